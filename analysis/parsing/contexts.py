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
    r"|technically|undoubtedly|necessarily|then|almost|very|most|surely|certainly)"
)
_NOUN = (
    r"(?:answer|conclusion|verdict|judge?ment|response|reply|decision|determination|prediction|result|solution|ans"
    r"|guess|bet|vote|choice|pick|stance|call|assessment|output|label|réponse|respuesta|antwort|risposta|resposta"
    r"|ответ)"
)
_GAP = (
    r"(?:\s+(?:to|for|here|in|of|on|from|then|given|based|as|about|regarding|that|i|would)\b"
    r"(?:[^.!?\n:;\"]|\"[^\"\n]{0,120}\"){0,90}?)?(?:\s*,[^,.!?\n:;\"]{1,40},)?"
)
_BE = (
    r"(?:is|was|would be|should be|must be|will be|has to be|must therefore be|remains|becomes|seems to be"
    r"|appears to be|would have to be|has got to be|has to be|est|es|lautet|ist|è|é)"
)
_LINK = rf"(?:'s\s+|\s*(?::|=|->|=>|→|–|—|-{{1,2}})\s*|\s*,?\s+{_BE}\b\s*[:,]?\s*|\s*\n\s*)"
_FILL = (
    rf"(?:(?:{_ADVERB}|an?|clear|resounding|firm|hard|definite|definitive|strong|confident|simple|straightforward"
    rf"|emphatic|unequivocal|flat|solid|\(?[a-e][).]|just|that|again|well|so|it is|it's)"
    r"(?![\w'])[\s,:]*)*"
)
_SAY = (
    r"(?:say|answer(?: with)?|go with|lean(?:ing)?(?: towards?)?|vote(?: for)?|choose|pick|conclude|respond(?: with)?"
    r"|reply(?: with)?|think|believe|guess|suppose|reckon|select|infer|argue|judge|answering|saying|going with|get"
    r"|obtain|arrive at|end up with|settle on)"
)
#: The word is named as the answer: "the answer is", "Answer:", "that's a", "I'd say".
NAMED = re.compile(
    rf"\b(?:(?P<final>(?:final|overall|ultimate|boxed|json|tagged)\s+)?{_NOUN}(?:\s*\([^()\n]{{0,40}}\))?{_GAP}{_LINK}"
    r"|(?:it|that|this|my vote|mine)(?:'s|\s+is|\s+would be|'d be)\s+"
    r"(?=an?\s|(?:definitely|clearly|certainly|still)?\s*$)"
    r"|(?:it|this|that|statement|claim|argument|conclusion|question) (?:gets|gives(?: us)?|deserves|warrants"
    r"|amounts to|boils down to)\s+(?=an?\s)"
    r"|(?:chang|switch|revis|updat)\w* (?:my|the|this) (?:final )?(?:answer|vote|mind|verdict)(?: from \w+)? to\s+"
    r"|turn(?:s|ed) out (?:to be )?|(?:leads?|brings?) (?:me|us) to\s+|comes? out (?:as|to)\s+"
    r"|(?<!nothing )makes (?:it|this|that)\s+(?=an?\s)|(?:→|[-=]>)\s*answer\s+|(?:logic|reason|analysis|(?:the"
    r"|my) (?:text|passage|evidence|analysis|rule|logic)) says\s+"
    r"|(?:which|this|that)\s+means\s*[:,]?\s*(?:that\s+)?|(?P<last>final)\s*:\s*|leaning(?: towards?)?\s+"
    r"|let's (?:say|go with)\s+"
    r"|(?:i|we)(?:'d|'ll|'m|'re| would| will| must| am| are| do| can only| can)?(?: have to| tend to| thus| need to"
    r"| still| therefore| also| [a-z]{3,12}ly"
    r"| inclined to)?"
    rf"\s+{_SAY}\s*[:,]?\s*(?:that\s+)?"
    rf"){_FILL}$"
)
#: Adverbs and the like between a clause's beginning and the word.
LEAD = re.compile(
    r"(?:^|[.!?:;…\n]\s*|[,—–(]\s*|\s-+\s*)(?:(?:and|but|or)\s+)?"
    r"(?:(?:so|but|and|in short|in conclusion|in summary|in sum|to sum up|to conclude|overall|ultimately|finally"
    r"|consequently|accordingly|as a result|well|ok|okay|um+|uh+|h+m+|ah|oh|why|hell|heck|sorry|i'm sorry|sure|right"
    r"|honestly"
    r"|frankly|in my (?:opinion|view)|in this case|(?:strictly|logically|formally|technically) speaking|by definition"
    r"|short answer|great question|tl;?dr|to answer (?:the|your|this) question|(?!on|ear|ful|suppos|alleg|possib"
    r"|hard|part|near"
    r"|scarce|bare|rare|usual|general|common|sometim)[a-z]{2,14}ly(?=,)"
    rf"|good question|{_ADVERB})(?![\w'])[\s.!,:…—–-]*)+$"
)
#: The word begins a line, a sentence or a clause after a colon or dash.
STARTS = re.compile(
    rf"(?:[.!?:;…→=>]|{BOTH_WORDS}[\s)\]]*|[-=]>|(?:^|[\s\"'(])-+|--+|[—–])\s*$"
    r"|\n\s*(?:\(?\d{1,2}[.):]\s*|[a-z]\)\s*)?$"
)
#: Labels that open a reply.
OPENS_REPLY = re.compile(
    r"(?:(?:a|response|assistant)\s*[:>]|(?:option\s+)?\(?[a-e][).:]|\(?1[).:]|-"
    r"|[\[(]?(?:answer|final answer)[\])]?"
    r"|(?:an?\b)?\s*(?:clear|resounding|firm|hard|definite|definitive|strong|big|solid|easy|tentative|cautious"
    r"|qualified|reluctant|weak|soft|guarded|slight|simple|confident|emphatic"
    r"|unqualified|unequivocal|categorical|flat)?)?"
)
_PART = r"(?:step|premise|statement|part|point|case|item|example|claim|fact|rule|assumption|observation)"
_NUMERAL = r"(?:(?:\s*\(?\d{1,2}|\s+\(?(?:[a-z]|[ivx]{1,4}))\)?)"
#: Labels of steps, parts and explanations, whose first word is no answer to the question.
ASIDE = re.compile(
    rf"(?:\b{_PART}{_NUMERAL}?\s*[:)–—-]|(?:^|\n)\s*{_PART}{_NUMERAL}[.]"
    r"|[^\s].{0,200}\n\s*(?:explanation|reason|reasoning|justification|rationale|notes?|context"
    r"|analysis)\s*[:–—-])\s*$",
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
    r"answer|conclusion|verdict|judge?ment|response|reply|decision|determination|prediction|result|solution|ans"
    r"|leaning|let's"
    r"|guess|bet|vote|choice|pick|stance|call|says|assessment|output|label|réponse|respuesta|antwort|risposta"
    r"|resposta|ответ|get|deserves|warrants|amount"
    r"|boil|giv|make|turn|lead|bring|come|→|>|chang|switch|revis|updat|means|final|i['\s]|we['\s]|(?:it|that|this"
    r"|vote|mine)(?:'|\s+is\s|\s+would\s)"
)
#: The word is denied or set against another.
NEGATES = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bnor|\bwithout|\brather than|\binstead of|\bcannot|\bhardly)\s+"
    r"(?:(?:say|answer|simply|just|be|an?|the|really|exactly|clearly|logically|strictly|formally|deductively)\s+)*$"
)
#: "not" directly before a declared word that is a predicate ("not valid").
NOT = re.compile(
    r"(?:\bnot|n't|(?P<cannot>\b(?:it|this|that|statement|claim|argument|conclusion)\s+(?:can't|cannot|can"
    r" not)(?:\s+possibly)?)\s+be)"
    r"\s+(?:(?:really|logically|strictly|formally|deductively)\s+)?(?:an?\s+)?$"
)
#: An adverbial that opens a sentence ("Based on the premises, yes").
OPENING = re.compile(
    r"^(?:based on|given|according to|considering|from|under|in|with|by|following|assuming|for|as|after|since|because"
    r"|looking|if (?:i|we|you) (?:have|had|must|need))\b[^.!?\n]{0,200},\s*$"
)
_JUDGED = (
    r"(?:argument|inference|conclusion|statement|claim|reasoning|syllogism|deduction|proposition|sentence|implication"
    r"|entailment|hypothesis|assertion)"
)
_COMPLEMENT = (
    r"(?:\s+(?:that|drawn|given|stated|made|here|above|in|of|from)\b(?:(?!\bnot\b|n't|\bnever\b"
    r"|\bneither\b)[^.!?\n]){0,80}?"
    r"|\s+\"[^\"\n]{0,80}\"|\s+'[^'\n]{0,80}')?"
)
#: Subject and copula before a declared predicate ("the argument is clearly").
SUBJECT = re.compile(
    r"(?:^|[.!?\n;:,—–]\s*|\b(?:so|therefore|thus|hence|and|then|but|yet)\s+"
    r"|\b(?:conclude[ds]?|follows|say|believe|think) (?:that\s+)?)"
    rf"(?:(?:the|this|that|its|given|above|final|stated)\s+)*(?:{_JUDGED}{_COMPLEMENT}|it|this|that|you"
    rf"|\"[^\"\n]{{1,120}}\")"
    rf"(?:'s|'re|\s+(?:is|are|was|were|must be|would be|has been|have been|seems(?: to be)?|appears(?: to be)?)(?:"
    rf" considered| deemed)?"
    rf"|\s+(?:can|should|must) be (?:classified|considered|regarded|counted) as)(?:\s+{_ADVERB})*(?P<no>\s+not"
    rf"|n't)?(?:\s+(?:and\s+)?{_ADVERB})*\s+(?:an?\s+)?"
    rf"(?:{_ADVERB}\s+)?$"
)
#: Subject before a declared verb ("the argument holds").
SUBJECT_OF_VERB = re.compile(
    r"(?:^|[.!?\n;:,—–]\s*|\b(?:so|therefore|thus|hence|and|then|but|yet)\s+|\b(?:conclude[ds]?|say|believe|think)"
    r" that\s+)"
    rf"(?:(?:the|this|that|its|given|above|final|stated)\s+)*(?:{_JUDGED}|it)\s+(?:{_ADVERB}\s+)?(?P<no>$^)?$"
    rf"|\b(?:i(?:'d| would)?(?: \w+ly)? (?:call|consider|judge|deem|find|rate|classify)|makes|renders)\s+(?:(?:the"
    rf"|this|that)\s+)?"
    rf"(?:{_JUDGED}|it|this|that)(?:\s+(?:to be|as))?\s+(?:an?\s+)?(?:{_ADVERB}\s+)?$"
)
#: What a declared adjective may stand before and still be the predicate ("is a valid argument").
PREDICATE_NOUN = re.compile(rf"\s+{_JUDGED}(?=[\"')\]]*(?:\s*$|\s*[.,;:!\n]))")
#: A reported answer ('"Yes," said Ann').
SAID = re.compile(r"[,.!]?[\"']\s+(?:(?:\w+\s+)?(?:said|says|replied|replies|answered|answers|wrote)|was)\b")
#: The word in quotation marks as a subject ('"no" does not follow').
QUOTED_SUBJECT = re.compile(r"[\"']\s+(?:does|doesn't|did|is|isn't|would|can|can't|cannot|means|follows)\b")
#: "not X but Y", of which Y is meant.
NOT_BUT = re.compile(r"\bnot\s+(?:an?\s+)?[\"']?\w+[\"']?,?\s+but\s+(?:rather\s+)?(?:an?\s+)?[\"']?$")
#: A concession behind the word ("yes, but").
BUT = re.compile(r"[\"')\]]*\s*[,;–—-]*\s*(?:[^.!?\n,;]{0,60},)?\s*(?:but|yet|however)\b")
#: What leads to a word that stands against another one.
SET_AGAINST = re.compile(
    r"(?:[,;…(]|\.\.\.?|\bor|\band|\bbut|\bthough|\balthough)\s+(?:(?:or|and|but|also|though|although|strong|weak"
    r"|clear|hard|firm|maybe|perhaps|possibly|then|again|in|on|an?|the|another|other"
    r"|one|sense|reading|theory|practice|hand|way|ways|speaking|[a-z]{2,14}ly)\s+){0,5}$"
)
#: A label of what is no answer, at the beginning of a reply.
EXPLAINS = re.compile(r"\s*(?:explanation|reason|reasoning|justification|rationale|analysis|thoughts?)\s*[:–—-]\s*$")
#: An answer with what it is given to ("yes to the first question").
TO_PART = re.compile(
    r"[\"')\]]*,?\s+(?:to|for|on|in|with) (?:the (?:first|second|third|former|latter|other|last)\b|\(?[a-d]\)|\d\b"
    r"|(?:case|part|question|premise|statement|item|q) ?(?:\d|[a-d]\b))"
)
IF_I_MUST = re.compile(r"^(?:i|we)(?:'d)? (?:have|had|must|need)\b")
#: A reply that begins as a numbered step.
STEP = re.compile(rf"\s*(?:{_PART}{_NUMERAL}\s*[:.)–—-]|\(?1[.)]\s)")
#: The other half of a conditional answer.
OTHERWISE = re.compile(r"(?:^|[.,;:!?(\n—–-]\s*|\b(?:and|but|or) )(?:otherwise|else|if not|if so|elsewhere)[\s,:]*$")
SENTENCE_BREAK = re.compile(r"[.!?…][\"')\]]*\s+(?=\S)|\n\s*")

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
#: Next words before which the answer word is itself the subject ("yes would be wrong").
SUBJECT_OF = re.compile(
    r"is|isn't|was|wasn't|would|wouldn't|seems?|could|might|may|should|means|depends|appears|answers?|votes?|responses?"
    r"|n?or|vs|versus"
)
#: Next words that make a declared adjective attributive or factive ("true that", "valid for").
ADJECTIVE_OF = re.compile(r"that|an?|the|in|for|to")
