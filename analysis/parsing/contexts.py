"""What stands to the left and to the right of an answer word, as compiled patterns.

Left patterns end at the word, right patterns begin behind it; both see a bounded stretch of text, so
that reading stays linear in its length.
"""

import re

#: Stands in a text for a mention of both answers ("yes or no").
BOTH_WORDS = "\ue000"
_ADVERB = (
    r"(?:definitely|clearly|certainly|indeed|therefore|thus|hence|logically|deductively|formally|actually|simply"
    r"|also|absolutely|completely|entirely|still|in fact|of course|obviously|most likely|likely|probably|strictly"
    r"|technically|undoubtedly|then)"
)
_NOUN = r"(?:answer|conclusion|verdict|judge?ment|response|reply|decision|determination|prediction|result|solution|ans)"
_GAP = (
    r"(?:\s+(?:to|for|here|in|of|on|from|then|given|based|as|about|regarding|that|i|would)\b"
    r"(?:[^.!?\n:;\"]|\"[^\"\n]{0,120}\"){0,90}?)?(?:\s*,[^,.!?\n:;\"]{1,40},)?"
)
_BE = (
    r"(?:is|was|would be|should be|must be|will be|has to be|must therefore be|remains|becomes|seems to be"
    r"|appears to be|would have to be)"
)
_LINK = rf"(?:\s*(?::|=|->|=>|→|–|—|-{{1,2}})\s*|\s*,?\s+{_BE}\b\s*[:,]?\s*|\s*\n\s*)"
_FILL = (
    rf"(?:(?:{_ADVERB}|an?|clear|resounding|firm|hard|definite|definitive|strong|just|that|again|well|so|it is|it's)"
    r"(?![\w'])[\s,:]*)*"
)
_SAY = (
    r"(?:say|answer|go with|lean(?:ing)?(?: towards?)?|vote(?: for)?|choose|pick|conclude|respond(?: with)?"
    r"|reply(?: with)?|think|believe|guess|select|infer|argue|judge)"
)
#: The word is named as the answer: "the answer is", "Answer:", "that's a", "I'd say".
NAMED = re.compile(
    rf"\b(?:(?P<final>(?:final|overall|ultimate|boxed|json|tagged)\s+)?{_NOUN}(?:\s*\([^()\n]{{0,40}}\))?{_GAP}{_LINK}"
    r"|(?:it|that|this|my vote|mine)(?:'s|\s+is|\s+would be|'d be)\s+"
    r"(?=an?\s|(?:definitely|clearly|certainly|still)?\s*$)"
    r"|(?:which|this|that)\s+means\s*[:,]?\s*(?:that\s+)?|(?P<last>final)\s*:\s*|leaning(?: towards?)?\s+"
    r"|(?:i|we)(?:'d|'ll|'m|'re| would| will| must| am| are| do| can only)?(?: have to| need to| still| therefore| also"
    r"| inclined to)?"
    rf"\s+{_SAY}\s*[:,]?\s*(?:that\s+)?"
    rf"){_FILL}$"
)
#: Adverbs and the like between a clause's beginning and the word.
LEAD = re.compile(
    r"(?:^|[.!?:;…\n]\s*|[,—–(]\s*|\s-+\s*)(?:(?:and|but|or)\s+)?"
    r"(?:(?:so|but|and|in short|in conclusion|in summary|in sum|to sum up|to conclude|overall|ultimately|finally"
    r"|consequently|accordingly|as a result|well|ok|okay|um+|uh+|h+m+|ah|hell|heck|sorry|i'm sorry|sure|right|honestly"
    r"|frankly|in my (?:opinion|view)|in this case|strictly speaking|by definition|short answer|great question"
    rf"|good question|{_ADVERB})(?![\w'])[\s.!,:…—–-]*)+$"
)
#: The word begins a line, a sentence or a clause after a colon or dash.
STARTS = re.compile(
    rf"(?:[.!?:;…→]|{BOTH_WORDS}[\s)\]]*|[-=]>|(?:^|[\s\"'(])-+|--+|[—–])\s*$"
    r"|\n\s*(?:\(?\d{1,2}[.):]\s*|[a-z]\)\s*)?$"
)
#: Labels that open a reply.
OPENS_REPLY = re.compile(
    r"(?:(?:a|response|assistant)\s*[:>]|(?:option\s+)?\(?[a-e][).:]|-"
    r"|an?(?:\s+(?:clear|resounding|firm|hard|definite|definitive|strong))?)?"
)
_PART = r"(?:step|premise|statement|part|point|case|item|example|claim|fact|rule|assumption|observation)"
_NUMERAL = r"(?:\s*\(?\d{1,2}|\s+\(?(?:[a-z]|[ivx]{1,4}))\)?"
#: Labels of steps, parts and explanations, whose first word is no answer to the question.
ASIDE = re.compile(
    rf"(?:\b{_PART}{_NUMERAL}?\s*[:)–—-]|(?:^|\n)\s*{_PART}{_NUMERAL}[.]"
    r"|[^\s].{0,200}\n\s*(?:explanation|reason|reasoning|justification|rationale|notes?|context|analysis)\s*[:–—-])\s*$",
    re.DOTALL,
)
#: The word takes back what was said: "wait,", "I meant", "scratch that, the answer is".
CORRECTS = re.compile(
    r"(?:^|[(—–.!?,;:-]\s*|\n\s*|\b(?:no|yes|but|oh|and)\s+)"
    r"(?:wait|actually|correction|sorry|oops|scratch that|strike that|hold on|hang on"
    r"|on (?:second thoughts?|reflection)|upon (?:further )?(?:reflection|consideration)"
    r"|let me (?:correct|rephrase|reconsider|revise)[^.!?\n]{0,30}|i meant?|i misspoke|i made a mistake|i was wrong"
    r"|i (?:take that back|stand corrected|change my (?:answer|mind)(?: to)?)|my (?:mistake|bad)|apologies"
    r"|i apologi[sz]e|or rather|thinking again|make that|i should(?: have|'ve)? sa(?:y|id))"
    r"[\s,.:;!…—–-]*"
    r"(?:(?:and|so|but|it's|it|is|the|my|that|that's|this|correct|right|true|final|real|answer|conclusion|should|would"
    r"|be|i|meant?|say|wait|actually|sorry|to|no|an?|in fact|here|then|of course|make|have|said)"
    r"[\s,.:'\"…—–-]+)*$"
)
#: Cheap tests without which the patterns before and after cannot match.
MAY_CORRECT = re.compile(
    r"wait|actually|correct|sorry|oops|scratch|strike|hold|hang|thought|reflect|consider|rephrase|revise|mean|misspoke"
    r"|mistake|wrong|take|change|bad|apolog|rather|thinking|make|should"
)
MAY_NEGATE = re.compile(r"not|n't|never|neither|nor|without|rather|instead|hardly")
MAY_NAME = re.compile(
    r"answer|conclusion|verdict|judge?ment|response|reply|decision|determination|prediction|result|solution|ans|leaning"
    r"|means|final|i['\s]|we['\s]|(?:it|that|this|vote|mine)(?:'|\s+is\s|\s+would\s)"
)
#: The word is denied or set against another.
NEGATES = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bnor|\bwithout|\brather than|\binstead of|\bcannot|\bhardly)\s+"
    r"(?:(?:say|answer|simply|just|be|an?|the|really|exactly|clearly|logically|strictly|formally|deductively)\s+)*$"
)
#: "not" directly before a declared word that is a predicate ("not valid").
NOT = re.compile(r"(?:\bnot|n't)\s+(?:(?:really|logically|strictly|formally|deductively)\s+)?$")
#: A clause of this kind only entertains what follows.
HYPOTHETIC = re.compile(
    r"\b(?:might|may|could|tempt\w*|whether|suppose|supposing|unless|at first|initially|intuitively|naively"
    r"|(?<!no )doubt\w*|den(?:y|ies)|seem\w*|before|until|(?<!\bi )had"
    r"|(?:one|you|people|many|some|most|others|they|he|she|critics|someone) (?:\w+ )?"
    r"(?:would|can|will|sa(?:y|id)s?|thinks?|argues?)"
    r"|not (?:the case|true|clear|certain|sure|say|think|believe|claim|mean|correct|right|that|because)"
    r"|(?:wrong|incorrect|mistake|error|mistaken) to|wrong(?:ly)?|if\b.*\b(?:were|was|would))\b"
    r"|n't (?:think|believe|say|mean|know|agree|claim|that|true)\b"
    r"|\b(?:if|when|should|would|could|can) i\b(?! (?:had|have|were|must|need)\b)"
)
#: Where the clause before a marker begins.
CLAUSE_START = re.compile(
    r"[.!?\n;:]\s|(?:so|thus|hence|but|yet|however|therefore|consequently)(?<![a-z]so)(?<![a-z]but)(?<![a-z]yet),?\s"
)
#: An adverbial that opens a sentence ("Based on the premises, yes").
OPENING = re.compile(
    r"^(?:based on|given|according to|considering|from|under|in|with|by|following|assuming|for|as|after|since|because"
    r"|looking)\b[^.!?\n]{0,200},\s*$"
)
_JUDGED = (
    r"(?:argument|inference|conclusion|statement|claim|reasoning|syllogism|deduction|proposition|sentence|implication"
    r"|entailment|hypothesis|assertion)"
)
#: Subject and copula before a declared predicate ("the argument is clearly").
SUBJECT = re.compile(
    r"(?:^|[.!?\n;:,—–]\s*|\b(?:so|therefore|thus|hence|and|then)\s+"
    r"|\b(?:conclude[ds]?|follows|say|believe|think) that\s+)"
    rf"(?:(?:the|this|that|its|given|above|final|stated)\s+)*(?:{_JUDGED}|it|this|that)"
    rf"(?:'s|\s+(?:is|are|must be|would be))(?:\s+{_ADVERB})*(?P<no>\s+not|n't)?(?:\s+{_ADVERB})*\s+(?:an?\s+)?"
    rf"(?:{_ADVERB}\s+)?$"
)
#: What a declared adjective may stand before and still be the predicate ("is a valid argument").
PREDICATE_NOUN = re.compile(rf"\s+{_JUDGED}(?=[\"')\]]*(?:\s*$|\s*[.,;:!\n]))")
#: The other half of a conditional answer.
OTHERWISE = re.compile(r"\b(?:otherwise|else|if not|if so|elsewhere)[\s,:]*$")
SENTENCE_BREAK = re.compile(r"[.!?…][\"')\]]*\s+(?=\S)|\n\s*")

#: What follows the word: nothing, a question mark, a stop, or a next word.
RIGHT = re.compile(
    r"(?P<end>[\s\"')\].!,;:…—–-]*$)|[\"')\]]*(?:(?P<ask>\s*\?)"
    r"|(?P<stop>\s*[.!,;:…(\[—–→]|\s*[-=]>|[ \t]*\n|\s*-+[\s>]|\s*--)|\s+(?P<next>[^\s.!?,;:]+))"
)
NUMBER = re.compile(r"\.?[ \t]?#?\d")
IS_ANSWER = re.compile(
    r"[\"')\]]*\s+(?:is|would be|must be|should be|seems to be)\s+(?:therefore\s+)?(?:my|the|our)\s+(?:\w+\s+)?"
    r"(?:answer|conclusion|response|verdict)\b(?!\s+(?:if|only|when|unless)\b)"
)
#: Next words that show that "no" is no determiner: the sentence goes on.
GOES_ON = re.compile(
    r"because|since|as|the|an?|it|it's|its|this|that|that's|these|those|they|they're|there|there's|i|i'm|i'd|i've|we|you"
    r"|he|she|does|doesn't|do|don't|did|didn't|not|cannot|can't|but|and|due|given|based|according|under|even|although"
    r"|though|sir|ma'am|from|for|in|on|to|with|by|at|my|your|his|her|their|our|therefore|thus|so|then"
    r"|here|again|actually|definitely|sorry|wait"
)
CONDITION = re.compile(r"if|when|unless|only|otherwise|provided")
#: Next words before which the answer word is itself the subject ("yes would be wrong").
SUBJECT_OF = re.compile(
    r"is|isn't|was|wasn't|would|wouldn't|seems?|could|might|may|should|means|depends|appears|answers?|votes?|responses?"
    r"|n?or|vs|versus"
)
#: Next words that make a declared adjective attributive or factive ("true that", "valid for").
ADJECTIVE_OF = re.compile(r"that|an?|the|in|for|to")
