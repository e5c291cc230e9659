"""Given names: what they are for short, and their spellings. Lists of the language, none of them made from a corpus."""

# What a name that is written in full is called for short; the first word of a line is the full one.
_SHORT_NAMES = """
alexander alex sasha
alexandra alex sandra sasha
andrew andy drew
anthony tony
barbara barb
benjamin ben benny
catherine cathy kate katie
charles charlie chuck
christina chris tina
christine chris
christopher chris
daniel dan danny
david dave
deborah debbie deb
donald don donnie
dorothy dot dottie
edward ed eddie ted ned
elizabeth liz beth betty eliza lizzie
eugene gene
francis frank
frederick fred freddie
gerald gerry jerry
gregory greg
harold hal harry
henry harry hank
james jim jimmy jamie
jeffrey jeff
jennifer jen jenny
john jack johnny
jonathan jon
joseph joe joey
joshua josh
judith judy
katherine kate kathy katie
kenneth ken
lawrence larry
leonard len lenny
margaret maggie meg peggy
matthew matt
michael mike mick
mikhail misha
nathaniel nathan nate nat
nicholas nick
pamela pam
patricia pat patty trish
patrick pat paddy
peter pete
philip phil
raymond ray
rebecca becky
richard rick dick rich
roberta bobbie
robert bob bobby rob robbie bert
ronald ron ronnie
samantha sam
samuel sam sammy
sarah sally
stanley stan
stephanie steph
stephen steve
steven steve
susan sue susie
theodore ted teddy theo
thomas tom tommy
timothy tim
victoria vicky
vincent vince
vladimir volodya vova
valerie val
walter walt
wilhelm willi willy
william bill billy will willie
zachary zach zack
"""
SHORT_NAMES = frozenset(
    (short, full) for line in _SHORT_NAMES.split("\n") if line for full, *shorts in [line.split()] for short in shorts
)

_SPELLINGS = """
john jon
mohammed mohammad muhammad mohamed mohamad muhammed muhamad
ahmed ahmad
hussein hussain husain husayn hussayn hossein
yusuf yousef youssef yousuf
ibrahim ebrahim
omar umar
khalid khaled
abdullah abdallah
abdul abdel abdal
osama usama
rahman rehman
bin ibn ben
alexander aleksandr alexandr aleksander
sergei sergey serge sergej sergiy
yuri yury yuriy iurii jurij
dmitri dmitry dmitriy dimitri
yevgeny evgeny evgenii evgeniy yevgeniy
alexei alexey aleksei aleksey
nikolai nikolay nikolaj
"""
SPELLINGS = {word: words[0] for words in map(str.split, _SPELLINGS.strip().split("\n")) for word in words}
"""Spellings of common names that come from other scripts, each with the first of its kind."""

_MORE_GIVEN_NAMES = """
aaron abigail adam adele aditya adrian agatha agnes aiden aisha ajay akash akiko akira alan albert alberto alejandro
aleksandra alena alfonso alfred alice alicia alicja alina alison allison alma amanda amelia amina amira amit amy ana
anand anastasia anatoly anders andre andrea andreas andreea andres angela anil anita anja ann anna anne ante antoine
anton antonia antonin antonio anwar arjun arnold arthur artur arturo arun ashley ashok astrid august augusta aurora
austin ayesha bashir bastian beata beatrice bernard bernardo bernd bernhard bertha bettina birgit bjorn
boris brandon brenda brendan brian bridget bruce bruno camila camilla camille carina carl carla carlo carlos carmela
carmen carol caroline carter caterina catherine catrin cecile cecilia cedric celia celine chandra chantal charlene
charlotte chiara christa christian christiane christof christophe claire clara clarissa claude claudia clement colin
colleen conrad constance corinna corinne courtney craig cristian cristina cynthia damian damien daniela daniele
danielle daria darius darren deepak dejan denis denise dennis derek desmond diana diego dieter dinesh dirk dolores
dominic dominique donna doris douglas duncan dylan edgar edith eduardo edwin eileen elaine eleanor elena eleonora
elias elina elisa elisabeth elise ella ellen elliot elvira emil emilia emilio emily emma emmanuel emre enrico eric
erica ernest ernst erwin esther ethan etienne eugenia eugenio eva evan evelyn fabian fahad faisal farid farida fatima
fatma federica federico felicia felicity felix ferdinand fernando filip filippo fiona flora florence florian frances
francesca francesco francisco franz frederic frederik frederika frieda friedrich fritz fumiko gabriel gabriela
gabriele gabrielle ganesh gary geoffrey georg george georgia gerard gerhard gertrude gilbert gina giorgio giovanni
giulia giuseppe gloria gopal goran gordon grace graham gregor guillaume gunther gustav guy habib hakan hamid hamza
hanna hannah hans harald haruka harvey hasan hassan heather hector heidi heinrich helen helena helene helga helmut
henrietta henrik herbert herman hermann hilary hiroki hiroshi hisham holger howard hubert hugo humphrey ian ida
ignacio igor ilona imran indira ines ingrid iqbal irena irene irina irma isaac isabel isabella isabelle isamu ismail
ivan ivana ivanka jack jacob jacqueline jakob jalal jamal jamila jana jane janet janice janine jared jaroslav jasmin
jasmine jason jasper javed javier jean jeanette jeanne jerome jessica jesus joachim joan joanna joanne joaquin jocelyn
johann johannes jonas jordan jorge jorgen jose josef josefa josephine joyce juan julia julian juliana juliane julianne
julie juliet julio julius justin justine kamal kamala kamila karen karim karima karin karina karl karolina kasper
katarina katharina kathleen kathrin kathryn katja katrin katrina kazuko kazuo keith kelly kenji kevin khalil kirsten
kirstin kirsty klara klaus konrad krishna krista kristian kristin kristina kristof kurt ladislav lakshmi lars laura
laurence laurent leah leila leo leon leonardo leonora leopold leslie lewis leyla lidia lilian liliana linda lisa
lorena lorenzo lothar louis louisa louise lucas lucia luciana luciano lucie lucy ludwig luigi luis luisa luke lydia
madeleine magda magdalena mahesh mahmoud mahmud malcolm malik manfred mansour manuel manuela marc marcel marcela
marcella marcelo marco marcus marek maren margaret margarita margot maria mariam marian mariana marianna marianne
mariano marie marika marilyn marina mario marion marisa marjan mark marlene marlon marta martha martin martina martyn
marwan mary masashi mateo mathias mathilde matilda matteo matthias maurice mauro max maximilian maya mehmet melanie
melinda melissa mercedes meredith michaela michal michele michelle miguel mikael mila milan milena miles milica milos
miranda miriam mirjam mirko miroslav mohan molly monica monika morgan moritz mukesh murat mustafa myriam nabil nadia
nadine nadir nancy naomi naresh nasir nasser natalia natalie natasha nathalie neil nelson nestor neville nicola
nicolas nicole nikita nikola nikolas nilesh nils nina noah nolan nora norbert norman oleg olga oliver olivia olivier
orlando oscar oswald otto pablo paola paolo pascal patrice patrik paul paula pauline pavel pedro perry petra philip
philipp philippe phillip phyllis pierre pradeep prakash priya rachel rachid rafael rafaela rahul raimund rainer rajesh
rakesh ralf ralph ramesh ramon ramona ranjit raphael raquel rashid raul regina reinhard reinhold renata renate rene
rhonda ricarda ricardo riccardo rita roberta roberto robin rodney rodrigo roger rohan rohit roland rolf roman romana
romeo rosa rosalind rosanna rosemary rosina rowena roy rudolf rupert russell ruth sabina sabine sabir sabrina sachin
salim salma salman salvador salvatore samantha samara samir samira sandra sanjay santosh sara sascha satoshi scott
sean sebastian selena selina selma serena sergio shankar shannon sharon sheila shirley sibylle siegfried sigrid silke
silvia silvio simeon simon simona simone sofia sofie solomon sonia sonja sophia sophie spencer stanislav stefan
stefania stefano stella stephanie stuart suleiman sultan sunil suresh susanne sushila sven sylvia sylvie takashi
takeshi tamara tanja tanya tariq tatiana terence teresa thea thelma theodora theresa thierry thomas tina tobias
torsten tracy ulrich ulrike ursula usman uwe valentin valentina valeria valerie valerio vanessa vasily vera verena
vernon veronica victor vijay vikram viktor vincenzo vinod viola violet virgil virginia vittorio vivian viviana volker
walid walter wanda warren wayne wendy wesley wilfred wilhelmina wilma winston wolfgang xavier yannick yasmin yasser
yolanda yumiko yves yvonne zahra zainab zoltan zoran zsofia
"""
GIVEN_NAMES = frozenset(
    word for text in (_SHORT_NAMES, _SPELLINGS, _MORE_GIVEN_NAMES) for word in text.split() if len(word) > 1
) - {"bin", "ibn", "will", "abdul", "abdel", "abdal"}
"""Names that are given to people, of the languages that write with Latin letters."""
