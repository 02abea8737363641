// What is known better by hand than from pipreqs. Read by update-module-names.mjs.

/** `module=distribution`, where pipreqs has nothing, is wrong or is out of date. */
export const CORRECTIONS = pairs(`
  AppKit=pyobjc-framework-cocoa Bio=biopython Box2D=box2d-py Foundation=pyobjc-framework-cocoa
  MeCab=mecab-python3 MySQLdb=mysqlclient Quartz=pyobjc-framework-quartz RPi=rpi-gpio
  Xlib=python-xlib _pytest=pytest airflow=apache-airflow allauth=django-allauth
  antlr4=antlr4-python3-runtime appium=appium-python-client argon2=argon2-cffi
  attr=attrs auth0=auth0-python barcode=python-barcode benedict=python-benedict
  bluetooth=pybluez box=python-box bs4=beautifulsoup4 cairo=pycairo
  camelot=camelot-py can=python-can capnp=pycapnp cattr=cattrs
  cinderclient=python-cinderclient colors=ansicolors community=python-louvain consul=python-consul
  corsheaders=django-cors-headers cpuinfo=py-cpuinfo cv2=opencv-python dbt=dbt-core
  debug_toolbar=django-debug-toolbar direct=panda3d distutils=setuptools django_filters=django-filter
  docx=python-docx environ=django-environ facebook=facebook-sdk factory=factory-boy
  faiss=faiss-cpu ffmpeg=ffmpeg-python fitz=pymupdf fpdf=fpdf2
  gi=pygobject gitlab=python-gitlab glanceclient=python-glanceclient
  gnupg=python-gnupg google.api=googleapis-common-protos google.cloud.pubsub_v1=google-cloud-pubsub
  google.cloud.secretmanager=google-cloud-secret-manager google.cloud.translate_v2=google-cloud-translate
  google.longrunning=googleapis-common-protos google.oauth2=google-auth google.protobuf=protobuf
  google.rpc=googleapis-common-protos google.type=googleapis-common-protos graphql=graphql-core
  grpc=grpcio grpc_health=grpcio-health-checking grpc_reflection=grpcio-reflection
  grpc_status=grpcio-status grpc_tools=grpcio-tools hcl2=python-hcl2 hid=hidapi
  hubspot=hubspot-api-client imblearn=imbalanced-learn imdb=cinemagoer import_export=django-import-export
  jenkins=python-jenkins jks=pyjks jnius=pyjnius jose=python-jose
  kafka=kafka-python libsvm=libsvm-official llama_cpp=llama-cpp-python markdown_it=markdown-it-py
  mpl_toolkits=matplotlib mpl_toolkits.basemap=basemap multipart=python-multipart mysql=mysql-connector-python
  nacl=pynacl nats=nats-py neutronclient=python-neutronclient newspaper=newspaper4k
  nmap=python-nmap oauth2_provider=django-oauth-toolkit objc=pyobjc-core ogr=gdal
  openid=python3-openid openstack=openstacksdk opentelemetry=opentelemetry-api
  opentelemetry.sdk=opentelemetry-sdk osgeo=gdal osr=gdal paddle=paddlepaddle
  pam=python-pam pdfminer=pdfminer-six pkg_resources=setuptools pptx=python-pptx
  progressbar=progressbar2 psycopg2=psycopg2-binary pyasdf=asdf pyflink=apache-flink
  pylab=matplotlib pynvml=nvidia-ml-py pythoncom=pywin32 pywintypes=pywin32
  pywt=pywavelets rapidjson=python-rapidjson rediscluster=redis-py-cluster ruamel=ruamel-yaml
  samtranslator=aws-sam-translator sdl2=pysdl2 servicemanager=pywin32 shopify=shopifyapi
  skimage=scikit-image skopt=scikit-optimize sksurv=scikit-survival skvideo=scikit-video
  slugify=python-slugify smartcard=pyscard smb=pysmb smbclient=smbprotocol
  snappy=python-snappy socks=pysocks speech_recognition=speechrecognition spnego=pyspnego
  stl=numpy-stl stomp=stomp-py superset=apache-superset surprise=scikit-surprise
  tabula=tabula-py talib=ta-lib umap=umap-learn vcr=vcrpy
  vertexai=google-cloud-aiplatform visa=pyvisa vlc=python-vlc whisper=openai-whisper
  whois=python-whois win32api=pywin32 win32clipboard=pywin32 win32com=pywin32
  win32con=pywin32 win32event=pywin32 win32file=pywin32 win32gui=pywin32
  win32print=pywin32 win32process=pywin32 win32security=pywin32 win32service=pywin32
  win32serviceutil=pywin32 winerror=pywin32 wx=wxpython yara=yara-python`);

/**
 * Shared by many distributions, so that the name alone tells none. With one more part it does, by custom:
 * google.cloud.storage is in google-cloud-storage.
 */
export const NAMESPACES = words(`
  azure azure.ai azure.data azure.keyvault azure.mgmt azure.storage backports dogpile google google.cloud
  jaraco lazr opentelemetry.exporter opentelemetry.instrumentation plone sphinxcontrib tw2 z3c zope zope.app`);

/**
 * Nothing to install: what projects call files of their own, modules that come with no distribution of the index (models
 * of spaCy), and the standard library of Python 2. Whoever registers such a name may be up to no good.
 */
export const NOT_ON_THE_INDEX = words(`
  app apps common config constants core database db demo example examples helper helpers lib main model models
  module my_module mymodule my_script project schemas script scripts settings setup src test tests tool tools util
  utilities utils version views
  de_core_news_sm en_core_web_lg en_core_web_md en_core_web_sm en_core_web_trf
  BaseHTTPServer CGIHTTPServer ConfigParser Cookie HTMLParser Queue SimpleHTTPServer SocketServer StringIO Tkinter
  UserDict UserList cPickle cStringIO commands cookielib dummy_thread exceptions htmlentitydefs httplib ihooks
  md5 robotparser sets sha thread tkFileDialog tkMessageBox ttk urllib2 urlparse user xmlrpclib
  annotationlib compression tomllib`);

/**
 * Entries of pipreqs that are left out, so that the module's own name is taken: wrong, long gone, or a common word that
 * some little known distribution happens to use.
 */
export const LEFT_OUT = words(`
  ANSI App Asterisk BeautifulSoupTests FSM GeoBaseMain GeoBases Globals HelpSys Levenshtein Lifetime OFS Products
  QtCore SCons Shared Signals Testing TreeDisplay ZPublisher ZServer ZTUtils atom avatar bcrypt captcha chip8
  clusterconsole clustersitter compose couchdbcurl cow ctff demosongs deployer devtools distribute_setup docker
  dogshell dpkt dzclient ephem esplot ez_setup fabfile fdpexpect flask_redis flaskext flvscreen forge funtests
  gabbi getenv gitpy greplin grokcore hawk ho htmloutput igraph jsonfield jupyterpip kickstarter kss lava lisa
  locust logilab machineconsole machinesitter manifestparser marks metaphone mixfiles mkfreq msgpack nereid output
  paintstore paste peak pivotal play_wav plonetheme prefetch provider pxssh pybloomfilter pyjon pymagic qs
  quickapi reStructuredText reportapi requirements rhaptos2 robots rsbackends saga scalrtools scikits scratch
  screen sdict singleton sittercommon smarkets statsd suds sx tasksitter thclient toredis trytond tsuru useless
  webdav zopyx`);

function words(text) {
  return text.trim().split(/\s+/);
}

function pairs(text) {
  return Object.fromEntries(words(text).map((pair) => pair.split('=')));
}
