"""Answer text to answer, status and the rule that read it."""
