"""One file per harness: logged records in order, with their source."""
