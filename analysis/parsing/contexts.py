"""What stands to the left of an answer word, as compiled patterns, and marks and nouns beside it.

Left patterns end at the word; they see a bounded stretch of text, so that reading stays linear in its length. What
stands to the right is in ``right_contexts``.
"""

import re

#: Stands in a text for a mention of both answers ("yes or no").
BOTH_WORDS = "\ue000"
_ADVERB = (
    r"(?:definitely|clearly|certainly|indeed|therefore|thus|hence|logically|deductively|formally|actually|simply"
    r"|also|absolutely|completely|entirely|still|in fact|of course|obviously|most likely|likely|probably|strictly"
    r"|technically|undoubtedly|necessarily|then|almost|very|most|surely"
    r"|accordingly|consequently|correspondingly|naturally|plainly|evidently|unfortunately|nevertheless"
    r"|more likely|very likely|rather|no doubt|without (?:a )?doubt)"
)
_NOUN = (
    r"(?:answer|conclusion|verdict|judge?ment|response|reply|decision|determination|prediction|result|solution|ans"
    r"|guess|bet|vote|choice|pick|stance|call|assessment|output|label|grade|ruling|rating|evaluation|classification"
    r"|outcome|entailment|réponse|respuesta|antwort|risposta|resposta|ответ)"
)
_GAP = (
    r"(?:\s+(?:to|for|here|in|of|on|from|then|given|based|as|about|regarding|that|i|would)\b"
    r"(?:[^.!?\n:;\"]|\"[^\"\n]{0,120}\"){0,90}?)?(?:\s*,[^,.!?\n:;\"]{1,40},)?"
)
_BE = (
    r"(?:is|was|(?:would|should|must|will|has to|ought to|can only|could only|would have to|has got to|seems to"
    r"|appears to)(?: therefore| thus| then| still| also| hence| again| just| simply)? be|remains|becomes"
    r"|est|es|lautet|ist|è|é)"
)
_LINK = rf"(?:'s\s+|\s*(?::|=|->|=>|→|–|—|-{{1,2}})\s*|\s*,?\s+{_BE}\b\s*[:,]?\s*|\s*\n\s*)"
_FILL = (
    rf"(?:(?:{_ADVERB}|an?|clear|resounding|firm|hard|definite|definitive|strong|confident|simple|straightforward"
    rf"|emphatic|unequivocal|unambiguous|unqualified|categorical|big|loud|flat|solid|(?<=\w )and(?= \w)"
    rf"|\(?[a-e][).]|just|that|again|well|so|it is|it's)"
    r"(?![\w'])[\s,:]*)*"
)
_SAY = (
    r"(?:say|answer(?: (?:this|that|it|(?:the|this|your) question(?: \"[^\"\n]{0,120}\")?)(?= with))?(?: with)?"
    r"|go with|lean(?:ing)?(?: towards?)?|vote(?: for)?|choose|pick|conclude|respond(?: with)?"
    r"|reply(?: with)?|think|believe|guess|suppose|reckon|select|infer|argue|judge|find|determine|answering|saying"
    r"|going with|get"
    r"|obtain|arrive at|end up with|settle on)"
)
#: The word is named as the answer: "the answer is", "Answer:", "that's a", "I'd say".
NAMED = re.compile(
    rf"(?:(?:→|[-=]>)\s*answer\s+|\b(?:(?P<final>(?:final|overall|ultimate|boxed|json"
    rf"|tagged)\s+)?{_NOUN}(?:\s*\([^()\n]{{0,40}}\))?{_GAP}{_LINK}"
    r"|(?:it|that|this|my vote|mine)(?:'s|\s+is|'d be|'ll be|\s+(?:would|must|should|will|has to|would have to"
    r"|can only) be)\s+"
    r"(?=an?\s|(?:definitely|clearly|certainly|still)?\s*$)"
    r"|(?:it|this|that|statement|claim|argument|conclusion|question)(?: \"[^\"\n]{1,120}\")? (?:gets|gives(?: us)?"
    r"|deserves|warrants"
    r"|amounts to|boils down to)\s+(?=an?\s)"
    r"|(?:chang|switch|revis|updat)\w* (?:my|the|this) (?:final )?(?:answer|vote|mind|verdict)(?: from \w+)? to\s+"
    r"|turn(?:s|ed) out (?:to be )?|(?:leads?|brings?) (?:me|us) to\s+|comes? out (?:as|to)\s+"
    r"|(?<!nothing )makes (?:it|this|that)\s+(?=an?\s)|(?:logic|reason|analysis|(?:the"
    r"|my) (?:text|passage|evidence|analysis|rule|logic)) says\s+"
    r"|(?:which|this|that)\s+means\s*[:,]?\s*(?:that\s+)?|(?P<last>final|overall)\s*:\s*|leaning(?: towards?)?\s+"
    r"|let's (?:say|go with)\s+|\b(?:be|is|was|must|should) answered(?: with| by)?\s*:?\s*"
    r"|\b(?:je dirais|ich würde sagen|diría|direi|eu diria|я бы сказал)(?: que| che)?\s*[:,]?\s*"
    r"|(?:i|we)(?:'d|'ll|'m|'re| would| will| must| am| are| do| can only| can)?(?: have to| tend to| thus| need to"
    r"| going to| gonna"
    r"| still| therefore| also| [a-z]{3,12}ly"
    r"| inclined to)?"
    rf"\s+{_SAY}\s*[:,]?\s*(?:that\s+)?|let me {_SAY}\s*[:,]?\s*"
    rf"|i (?:would not|wouldn't|won't|do not|don't) hesitate to {_SAY}\s*[:,]?\s*"
    rf")){_FILL}$"
)
#: Adverbs and the like between a clause's beginning and the word.
LEAD = re.compile(
    r"(?:^|[.!?:;…\n]\s*|[,—–(]\s*|\s-+\s*)(?:(?:and|but|or)\s+)?"
    r"(?:(?:so|but|and|in short|in conclusion|in summary|in sum|to sum up|to conclude|overall|ultimately|finally"
    r"|consequently|accordingly|as a result|well|ok|okay|um+|uh+|h+m+|ah|oh|why|hell|heck|sorry|i'm sorry|sure|right"
    r"|ar+h*|aye|hey|hello|hi|ha|heh|wow|huh|gee|gosh|man|look|see|listen|alright|all right|fine|unfortunately"
    r"|thank you|thanks"
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
#: "a yes" as a noun of which something is said ("a yes here would need ..."), and what may follow it as an answer.
ARTICLE = re.compile(r"an?\b")
NOUN_GOES_ON = re.compile(r"[\"')\]]*\s+(?!because\b|since\b|from me\b|for me\b|as\b|to (?:the|this|that|your)\b)\w")
_PART = (
    r"(?:step|condition|criterion|requirement|check|test|premise|statement|part|point|case|item|example|claim"
    r"|fact|rule|assumption|observation)"
)
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
MAY_NEGATE = re.compile(r"not|n't|never|neither|nor|without|than|instead|hardly|by no means|far from|anything but")
MAY_NAME = re.compile(
    r"answer|conclusion|verdict|judge?ment|response|reply|decision|determination|prediction|result|solution|ans"
    r"|leaning|let's"
    r"|guess|bet|vote|choice|pick|stance|call|says|assessment|output|label|grade|ruling|rating|evaluation"
    r"|classification|outcome|entailment|réponse|respuesta|antwort|risposta|resposta|ответ|get|deserves|warrants|amount"
    r"|answered|dirais|würde|diría|direi|diria|сказал"
    r"|boil|giv|make|turn|lead|bring|come|→|>|chang|switch|revis|updat|means|final|i['\s]|we['\s]|(?:it|that|this"
    r"|vote|mine)(?:'|\s+(?:is|would|must|should|will|has|can)\s)|find|determine"
)
#: The word is denied or set against another.
NEGATES = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bnor|\bwithout|\bthan|\binstead of|\bcannot|\bhardly)\s+"
    r"(?:(?:say|answer|simply|just|be|an?|the|really|exactly|clearly|logically|strictly|formally|deductively)\s+)*$"
)
#: "not" directly before a declared word that is a predicate ("not valid").
NOT = re.compile(
    r"(?:\bnot|n't|\bby no means|\bfar from|\banything but|(?P<cannot>\b(?:it|this|that|statement|claim|argument"
    r"|conclusion)\s+(?:can't|cannot|can"
    r" not)(?:\s+possibly)?)\s+be)"
    r"\s+(?:(?:really|logically|strictly|formally|deductively)\s+)?(?:an?\s+)?$"
)
#: An adverbial that opens a sentence ("Based on the premises, yes").
OPENING = re.compile(
    r"^(?:based on|given|according to|considering|from|under|in|with|by|following|assuming|for|as|after|since|because"
    r"|looking|if (?:i|we|you) (?:have|had|must|need))\b[^.!?\n]{0,200},\s*$"
)
_JUDGED = (
    r"(?:(?:student|model|candidate|assistant|respondent|author|user)s?'s? )?"
    r"(?:argument|inference|conclusion|statement|claim|reasoning|syllogism|deduction|proposition|sentence|implication"
    r"|entailment|hypothesis|assertion|response|proof|solution)"
)
#: Whose answer a verdict is about ("the student's answer is").
JUDGED_PERSON = re.compile(r"\b(?:student|model|candidate|assistant|respondent|author|user)s?'s?\s*$")
_COMPLEMENT = (
    r"(?:\s+(?:as a whole|as stated|itself|in question)(?=\s)|\s+(?:that|drawn|given|stated|made|here|above|in|of"
    r"|from)\b(?:(?!\bnot\b|n't|\bnever\b"
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
    rf"|\s+by no means|\s+far from|\s+anything but|n't)?(?:\s+(?:and\s+)?{_ADVERB})*\s+(?:an?\s+)?"
    rf"(?:{_ADVERB}\s+)?$"
)
#: A definition and no verdict ("an argument is valid if ...").
IN_GENERAL = re.compile(
    rf"\b(?:an?|any|every|no|each)\s+(?:\w+\s+)?{_JUDGED}\s+(?:is|are|counts as|to be|can be)(?:\s+{_ADVERB})*\s+$"
)
#: The same with the subject at the beginning of the sentence ("the argument lacks a premise and is therefore").
SUBJECT_BEFORE = re.compile(
    rf"(?:^|[.!?\n]\s*)(?:so,? |thus,? |hence,? |therefore,? )?(?:the|this|that)\s+(?:(?:given|above|final|stated)\s+)*"
    rf"{_JUDGED}\s+(?!that\b|is\b)[^.!?\n;\"]{{1,120}}?,?\s+and\s+is(?:\s+{_ADVERB})*\s+(?:an?\s+)?$"
)
#: Subject before a declared verb ("the argument holds").
SUBJECT_OF_VERB = re.compile(
    r"(?:^|[.!?\n;:,—–]\s*|\b(?:so|therefore|thus|hence|and|then|but|yet)\s+|\b(?:conclude[ds]?|say|believe|think)"
    r" that\s+)"
    rf"(?:(?:the|this|that|its|given|above|final|stated)\s+)*(?:{_JUDGED}|it)\s+(?:{_ADVERB}\s+)?(?P<no>$^)?$"
    rf"|\b(?:i(?:'d| would)?(?: \w+ly)? (?:call|consider|judge|deem|find|rate|classify)|(?:would )?makes?"
    rf"|renders)\s+(?:(?:the"
    rf"|this|that)\s+)?"
    rf"(?:{_JUDGED}|it|this|that)(?:\s+(?:to be|as))?\s+(?:an?\s+)?(?:{_ADVERB}\s+)?$"
)
#: What a declared adjective may stand before and still be the predicate ("is a valid argument").
PREDICATE_NOUN = re.compile(rf"\s+{_JUDGED}(?=[\"')\]]*(?:\s*$|\s*[.,;:!\n]))")
#: A reported answer ('"Yes," said Ann').
SAID = re.compile(
    r"[,.!]?[\"']\s+(?:(?:(?:the\s+)?\w+\s+)?(?:said|says|replied|replies|answered|answers|wrote|cried|shouted"
    r"|exclaimed"
    r"|whispered|called|insisted|thought|muttered|yelled)|was)\b"
)
#: A word of JSON that names a value, and one behind which the text breaks off.
KEY = re.compile(r"\"\s*:")
BREAKS_OFF = re.compile(r"\s+(?:and|or)\s*$")
#: The word in quotation marks as a subject ('"no" does not follow').
QUOTED_SUBJECT = re.compile(
    r"[\"']\s+(?:does|doesn't|did|is|isn't|would|can|can't|cannot|means|follows|has|have|had|may|might|could|should"
    r"|must|appears?|occurs?|was|were|seems|refers|stands|comes)\b"
)
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
EXPLAINS = re.compile(
    r"\s*(?:explanation|reason|reasoning|justification|rationale|analysis|thoughts?|thinking)\s*[:–—-]\s*$"
)
#: What leads on to a further statement; a text that breaks off behind "Second, no" has lost the noun.
ENUMERATES = re.compile(
    r"\b(?:first|second|third|fourth|firstly|secondly|thirdly|next|also|moreover|furthermore|additionally|besides"
    r"|because|meanwhile|similarly|likewise)[,:]?\s*$"
)
#: An answer with what it is given to ("yes to the first question").
TO_PART = re.compile(
    r"[\"')\]]*,?\s+(?:to|for|on|in|with) (?:the (?:first|second|third|former|latter|other|last)\b|\(?[a-d]\)|\d\b"
    r"|(?:case|part|question|premise|statement|item|q) ?(?:\d|[a-d]\b))"
)
#: A marker in a condition ("if the answer is").
IF_NAMED = re.compile(r"\b(?:if|when|unless|whenever|in case)\s+(?:(?:the|my|your|our|its|correct|right)\s+)*$")
IF_I_MUST = re.compile(r"^(?:i|we)(?:'d)? (?:have|had|must|need)\b")
#: A reply that begins as a numbered step.
STEP = re.compile(rf"\s*(?:{_PART}{_NUMERAL}\s*[:.)–—-]|\(?1[.)]\s)")
#: The other half of a conditional answer.
OTHERWISE = re.compile(r"(?:^|[.,;:!?(\n—–-]\s*|\b(?:and|but|or) )(?:otherwise|else|if not|if so|elsewhere)[\s,:]*$")
SENTENCE_BREAK = re.compile(r"[.!?…][\"')\]]*\s+(?=\S)|\n\s*")
