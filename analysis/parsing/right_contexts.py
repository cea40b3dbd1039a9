"""What stands to the right of an answer word, as compiled patterns that begin behind it."""

import re

#: What follows the word: nothing, a question mark, a stop, or a next word.
RIGHT = re.compile(
    r"(?P<end>[\s\"')\].!,;:…—–-]*$)|[\"')\]]*(?:(?P<ask>\s*\?)"
    r"|(?P<stop>\s*[.!,;:…(\[—–→]|\s*[-=]>|[ \t]*\n|\s*-+[\s>]|\s*--)|\s+(?P<next>[^\s.!?,;:]+))"
)
NUMBER = re.compile(r"\.?[ \t]?#?\d|\.[ \t]of\b")
#: What makes an answer a mere possibility ("yes, maybe").
MAYBE_AFTER = re.compile(r"[\"')\]]*\s*[,;(—–-]*\s*(?:maybe|perhaps|possibly)\b[\s.!?)]*(?:$|\n)")
IS_ANSWER = re.compile(
    r"[\"')\]]*\s+(?:is|would be|must be|should be|seems to be)\s+(?:therefore\s+)?(?:my|the|our)\s+(?!wrong"
    r"|incorrect|false|worst)(?:\w+\s+)?"
    r"(?:answer|conclusion|response|verdict)\b(?!\s+(?:if|only|when|unless)\b)"
)
#: "yes" is, of two of which the other was said not to be the answer.
IS_THE_OTHER = re.compile(r"[\"')]*\s+is[.!]*\s*$")
#: "No A is B", "No As are Bs": letters for classes.
CLASS = re.compile(
    r"\s+(?:(?:a|i|as)\s+(?:is|are|isn't|aren't|was|were|and|or|implies|entails|has|have)\b|[a-z]s?\b\s+(?:is|are)\b)"
)
#: Next words that show that "no" is no determiner: the sentence goes on.
GOES_ON = re.compile(
    r"because|since|as|the|an?|it|it's|its|this|that|that's|these|those|they|they're|there|there's|i|i'm|i'd|i've|we"
    r"|you"
    r"|he|she|u|does|doesn't|do|don't|did|didn't|not|cannot|can't|but|and|due|given|based|according|under|even|although"
    r"|though|sir|ma'am|from|for|in|on|to|with|by|at|my|your|his|her|their|our|therefore|thus|so|then"
    r"|here|again|actually|definitely|sorry|wait|no|nope|indeed|absolutely|bc|b/c|bcs|cuz|coz|cos|cause|'cause"
    r"|although|while|i'll|isn't|doesnt|isnt|its|thats"
)
#: Next words behind which even "no" before a word may be an answer.
SPEAKS_ON = re.compile(
    rf"{GOES_ON.pattern}|if|when|unless|only|otherwise|provided|had|were|depending|really|at|both|is|was|would|or|nor"
)
CONDITION = re.compile(r"if|when|unless|only|otherwise|provided|providing|had|were|whenever")
#: A condition set off from the word by a comma ("yes, but only if").
CONDITION_AFTER = re.compile(
    r"[\"')\]]*\s*[,;(—–-]*\s*(?:but\s+)?(?:and\s+)?(?:(?:only|just)\s*(?:if\b|when\b|in case\b|under\b|$)|unless"
    r"|provided|providing"
    r"|not (?:unless|until|if)|(?:as|so) long as|on (?:the )?condition\b|if and only if\b|in case\b)"
)
#: A reply that ends with the condition of its answer ("yes, if it rains").
CONDITION_ENDS = re.compile(
    r"[\"')\]]*\s*[,;(—–-]+\s*(?:but )?if (?!i\b|you\b|we\b|one\b|anything\b"
    r"|not\b)(?:(?!\bthen\b)[^.,;:!?\n]){1,90}[.!)]*\s*$"
)
#: Next words before which the answer word is itself the subject ("yes would be wrong").
SUBJECT_OF = re.compile(
    r"is|isn't|was|wasn't|would|wouldn't|seems?|could|might|may|should|means|depends|appears|answers?|votes?|responses?"
    r"|n?or|vs|versus"
)
#: Next words that make a declared adjective attributive or factive ("true that", "valid for").
ADJECTIVE_OF = re.compile(r"that|an?|the|in|for|to")
