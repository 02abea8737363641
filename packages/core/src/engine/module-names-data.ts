// Written by scripts/update-module-names.mjs. Contains data of pipreqs 0.5.0 (Apache-2.0), changed.

/** Modules whose distribution has another name, and that distribution. */
export const DISTRIBUTIONS: Readonly<Record<string, string>> = {
  AFQ: 'pyafq',
  AppKit: 'pyobjc-framework-cocoa',
  Bio: 'biopython',
  Box2D: 'box2d-py',
  ComputedAttribute: 'extensionclass',
  Crypto: 'pycryptodome',
  Cryptodome: 'pycryptodomex',
  Foundation: 'pyobjc-framework-cocoa',
  MeCab: 'mecab-python3',
  MethodObject: 'extensionclass',
  MySQLdb: 'mysqlclient',
  OpenGL: 'pyopengl',
  OpenSSL: 'pyopenssl',
  PIL: 'pillow',
  Quartz: 'pyobjc-framework-quartz',
  RPi: 'rpi-gpio',
  S3: 's3cmd',
  Stemmer: 'pystemmer',
  Xlib: 'python-xlib',
  _pytest: 'pytest',
  absl: 'absl-py',
  admin_tools: 'django-admin-tools',
  adminsortable: 'django-admin-sortable',
  airflow: 'apache-airflow',
  akamai: 'edgegrid-python',
  allauth: 'django-allauth',
  allowedsites: 'django-allowedsites',
  antlr4: 'antlr4-python3-runtime',
  apiclient: 'google-api-python-client',
  apitools: 'google-apitools',
  appconf: 'django-appconf',
  appium: 'appium-python-client',
  argon2: 'argon2-cffi',
  attr: 'attrs',
  auth0: 'auth0-python',
  ax: 'ax-platform',
  barcode: 'python-barcode',
  bayes_opt: 'bayesian-optimization',
  benedict: 'python-benedict',
  bluetooth: 'pybluez',
  bs4: 'beautifulsoup4',
  bson: 'pymongo',
  bugzilla: 'python-bugzilla',
  cairo: 'pycairo',
  camelot: 'camelot-py',
  can: 'python-can',
  capnp: 'pycapnp',
  cassandra: 'cassandra-driver',
  cattr: 'cattrs',
  cfnlint: 'cfn-lint',
  charmtools: 'charm-tools',
  cinderclient: 'python-cinderclient',
  cjson: 'python-cjson',
  classytags: 'django-classy-tags',
  cloghandler: 'concurrentloghandler',
  clonevirtualenv: 'virtualenv-clone',
  cloudservers: 'python-cloudservers',
  consul: 'python-consul',
  corebio: 'weblogo',
  corsheaders: 'django-cors-headers',
  courseradownloader: 'coursera-dl',
  cpuinfo: 'py-cpuinfo',
  creole: 'python-creole',
  crispy_forms: 'django-crispy-forms',
  cronlog: 'python-crontab',
  crontab: 'python-crontab',
  cups: 'pycups',
  curl: 'pycurl',
  cv2: 'opencv-python',
  'databricks.sql': 'databricks-sql-connector',
  dateutil: 'python-dateutil',
  dbt: 'dbt-core',
  deb822: 'python-debian',
  debian: 'python-debian',
  debug_toolbar: 'django-debug-toolbar',
  decouple: 'python-decouple',
  dhtmlparser: 'pydhtmlparser',
  digitalocean: 'python-digitalocean',
  discord: 'discord-py',
  django_filters: 'django-filter',
  djangobower: 'django-bower',
  djcelery: 'django-celery',
  djkombu: 'django-kombu',
  djorm_pgarray: 'djorm-ext-pgarray',
  dns: 'dnspython',
  docx: 'python-docx',
  dotenv: 'python-dotenv',
  dsml: 'python-ldap',
  durationfield: 'django-durationfield',
  easybuild: 'easybuild-framework',
  elftools: 'pyelftools',
  emlib: 'empy',
  enchant: 'pyenchant',
  engineio: 'python-engineio',
  faiss: 'faiss-cpu',
  fedora: 'python-fedora',
  ffmpeg: 'ffmpeg-python',
  fitz: 'pymupdf',
  flask_frozen: 'frozen-flask',
  followit: 'django-followit',
  formtools: 'django-formtools',
  fpdf: 'fpdf2',
  freetype: 'freetype-py',
  frontmatter: 'python-frontmatter',
  ftpcloudfs: 'ftp-cloudfs',
  fuse: 'fusepy',
  geohash: 'python-geohash',
  geventwebsocket: 'gevent-websocket',
  gflags: 'python-gflags',
  gi: 'pygobject',
  git: 'gitpython',
  github: 'pygithub',
  github3: 'github3-py',
  gitlab: 'python-gitlab',
  glanceclient: 'python-glanceclient',
  globusonline: 'globusonline-transfer-api-client',
  gnupg: 'python-gnupg',
  'google.api': 'googleapis-common-protos',
  'google.cloud.pubsub_v1': 'google-cloud-pubsub',
  'google.cloud.secretmanager': 'google-cloud-secret-manager',
  'google.cloud.translate_v2': 'google-cloud-translate',
  'google.longrunning': 'googleapis-common-protos',
  'google.oauth2': 'google-auth',
  'google.protobuf': 'protobuf',
  'google.rpc': 'googleapis-common-protos',
  'google.type': 'googleapis-common-protos',
  googleapiclient: 'google-api-python-client',
  grapheneapi: 'graphenelib',
  graphql: 'graphql-core',
  gridfs: 'pymongo',
  grpc: 'grpcio',
  grpc_health: 'grpcio-health-checking',
  grpc_reflection: 'grpcio-reflection',
  grpc_status: 'grpcio-status',
  grpc_tools: 'grpcio-tools',
  gslib: 'gsutil',
  hamcrest: 'pyhamcrest',
  haystack: 'haystack-ai',
  hcl2: 'python-hcl2',
  hgext: 'mercurial',
  hggit: 'hg-git',
  hglib: 'python-hglib',
  hid: 'hidapi',
  hubspot: 'hubspot-api-client',
  hvad: 'django-hvad',
  hydra: 'hydra-core',
  ibis: 'ibis-framework',
  imblearn: 'imbalanced-learn',
  imdb: 'cinemagoer',
  impala: 'impyla',
  import_export: 'django-import-export',
  jenkins: 'python-jenkins',
  jiracli: 'jira-cli',
  jks: 'pyjks',
  jnius: 'pyjnius',
  jose: 'python-jose',
  jpgrid: 'python-geohash',
  jpiarea: 'python-geohash',
  jpype: 'jpype1',
  jpypex: 'jpype1',
  jwt: 'pyjwt',
  kafka: 'kafka-python',
  kernprof: 'line-profiler',
  keyczar: 'python-keyczar',
  keystoneclient: 'python-keystoneclient',
  ldap: 'python-ldap',
  ldapurl: 'python-ldap',
  ldif: 'python-ldap',
  libfuturize: 'future',
  libgenerateDS: 'generateds',
  libmproxy: 'mitmproxy',
  libpasteurize: 'future',
  libsvm: 'libsvm-official',
  llama_cpp: 'llama-cpp-python',
  magic: 'python-magic',
  markdown_it: 'markdown-it-py',
  mavnative: 'pymavlink',
  memcache: 'python-memcached',
  mimeparse: 'python-mimeparse',
  mockredis: 'mockredispy',
  model_utils: 'django-model-utils',
  moneyed: 'py-moneyed',
  mpl_toolkits: 'matplotlib',
  'mpl_toolkits.basemap': 'basemap',
  mptt: 'django-mptt',
  mpv: 'python-mpv',
  mrbob: 'mr-bob',
  multipart: 'python-multipart',
  mysql: 'mysql-connector-python',
  nacl: 'pynacl',
  nats: 'nats-py',
  ndg: 'ndg-httpsclient',
  neutronclient: 'python-neutronclient',
  newspaper: 'newspaper4k',
  nmap: 'python-nmap',
  novaclient: 'python-novaclient',
  oauth2_provider: 'django-oauth-toolkit',
  objc: 'pyobjc-core',
  odf: 'odfpy',
  ogr: 'gdal',
  ometa: 'parsley',
  openid: 'python3-openid',
  opensearchpy: 'opensearch-py',
  openstack: 'openstacksdk',
  opentelemetry: 'opentelemetry-api',
  'opentelemetry.sdk': 'opentelemetry-sdk',
  osgeo: 'gdal',
  osr: 'gdal',
  packetdiag: 'nwdiag',
  paddle: 'paddlepaddle',
  paho: 'paho-mqtt',
  pam: 'python-pam',
  past: 'future',
  pdfminer: 'pdfminer-six',
  pkg_resources: 'setuptools',
  playhouse: 'peewee',
  plivoxml: 'plivo',
  png: 'pypng',
  postmark: 'python-postmark',
  pptx: 'python-pptx',
  progressbar: 'progressbar2',
  psycopg2: 'psycopg2-binary',
  puresasl: 'pure-sasl',
  pwiz: 'peewee',
  py7zlib: 'pylzma',
  pyAMI: 'pyami-core',
  pyasdf: 'asdf',
  pybb: 'pybbm',
  pycrfsuite: 'python-crfsuite',
  pydispatch: 'pydispatcher',
  pyflink: 'apache-flink',
  pygeolib: 'pygeocoder',
  pygraph: 'python-graph-core',
  pyjsonrpc: 'python-jsonrpc',
  pylab: 'matplotlib',
  pynvml: 'nvidia-ml-py',
  pysideuic: 'pyside',
  pysynth_b: 'pysynth',
  pysynth_beeper: 'pysynth',
  pysynth_c: 'pysynth',
  pysynth_d: 'pysynth',
  pysynth_e: 'pysynth',
  pysynth_p: 'pysynth',
  pysynth_s: 'pysynth',
  pysynth_samp: 'pysynth',
  pythoncom: 'pywin32',
  pythongettext: 'python-gettext',
  pythonjsonlogger: 'python-json-logger',
  pywintypes: 'pywin32',
  pywt: 'pywavelets',
  pyximport: 'cython',
  quickunit: 'nose-quickunit',
  rackdiag: 'nwdiag',
  rapidjson: 'python-rapidjson',
  readability: 'readability-lxml',
  rediscluster: 'redis-py-cluster',
  rest_framework: 'djangorestframework',
  rosdep2: 'rosdep',
  ruamel: 'ruamel-yaml',
  s2repoze: 'pysaml2',
  saml2: 'pysaml2',
  samtranslator: 'aws-sam-translator',
  sass: 'libsass',
  sassc: 'libsass',
  sasstests: 'libsass',
  sassutils: 'libsass',
  scss: 'pyscss',
  sdl2: 'pysdl2',
  sekizai: 'django-sekizai',
  serial: 'pyserial',
  servicemanager: 'pywin32',
  shapefile: 'pyshp',
  shopify: 'shopifyapi',
  skbio: 'scikit-bio',
  skfuzzy: 'scikit-fuzzy',
  skimage: 'scikit-image',
  sklearn: 'scikit-learn',
  skopt: 'scikit-optimize',
  sksurv: 'scikit-survival',
  skvideo: 'scikit-video',
  slack: 'slackclient',
  slugify: 'python-slugify',
  smartcard: 'pyscard',
  smb: 'pysmb',
  smbclient: 'smbprotocol',
  snappy: 'python-snappy',
  'snowflake.connector': 'snowflake-connector-python',
  'snowflake.sqlalchemy': 'snowflake-sqlalchemy',
  socketio: 'python-socketio',
  sockjs: 'sockjs-tornado',
  socks: 'pysocks',
  solr: 'solrpy',
  sorl: 'sorl-thumbnail',
  speech_recognition: 'speechrecognition',
  spnego: 'pyspnego',
  stdnum: 'python-stdnum',
  stl: 'numpy-stl',
  stomp: 'stomp-py',
  superset: 'apache-superset',
  surprise: 'scikit-surprise',
  swiftclient: 'python-swiftclient',
  tabula: 'tabula-py',
  taggit: 'django-taggit',
  talib: 'ta-lib',
  tastypie: 'django-tastypie',
  teamcity: 'teamcity-messages',
  telebot: 'pytelegrambotapi',
  telegram: 'python-telegram-bot',
  threaded_multihost: 'django-threaded-multihost',
  tidylib: 'pytidylib',
  tornadoredis: 'tornado-redis',
  tracopt: 'trac',
  treebeard: 'django-treebeard',
  tvrage: 'python-tvrage',
  twitter: 'python-twitter',
  txclib: 'transifex-client',
  umap: 'umap-learn',
  usb: 'pyusb',
  uwsgidecorators: 'uwsgi',
  vcr: 'vcrpy',
  vertexai: 'google-cloud-aiplatform',
  vlc: 'python-vlc',
  weaviate: 'weaviate-client',
  weblogolib: 'weblogo',
  websocket: 'websocket-client',
  whisper: 'openai-whisper',
  whois: 'python-whois',
  wikklytext: 'tiddlywebwiki',
  win32api: 'pywin32',
  win32clipboard: 'pywin32',
  win32com: 'pywin32',
  win32con: 'pywin32',
  win32event: 'pywin32',
  win32file: 'pywin32',
  win32gui: 'pywin32',
  win32print: 'pywin32',
  win32process: 'pywin32',
  win32security: 'pywin32',
  win32service: 'pywin32',
  win32serviceutil: 'pywin32',
  winerror: 'pywin32',
  winrm: 'pywinrm',
  wsmeext: 'wsme',
  wtfpeewee: 'wtf-peewee',
  wx: 'wxpython',
  xdg: 'pyxdg',
  xdist: 'pytest-xdist',
  xmldsig: 'pysaml2',
  xmlenc: 'pysaml2',
  xmpp: 'xmpppy',
  yaml: 'pyyaml',
  yara: 'yara-python',
  zmq: 'pyzmq',
};

/** Well-known modules whose distribution has their name. */
export const SAME_NAME: readonly string[] = `
  Cython IPython Levenshtein MDAnalysis PyPDF2 PyQt5 PyQt6 PySide2 PySide6 QuantLib SimpleITK accelerate
  adbc_driver_postgresql adbc_driver_sqlite aiobotocore aiofiles aiohttp aiomysql aiopg aioredis aiosqlite
  albumentations alembic altair annotated_types anthropic anyio apscheduler arrow arviz asgiref astropy
  asttokens asyncpg asyncssh authlib autograd av azure.core azure.cosmos azure.identity
  azure.keyvault.secrets azure.storage.blob babel backoff backports.zoneinfo bandit bcrypt beanie beartype
  bitarray bitsandbytes black bleach blinker blosc bokeh boto3 botocore bottle bottleneck branca brotli
  cachetools cartopy casadi catboost category_encoders cattrs celery cerberus certifi cffi cfgrib chardet
  charset_normalizer chromadb cityhash clarabel click click_plugins clickhouse_connect clickhouse_driver
  cloudpickle cmdstanpy cohere colorama colorcet colorlog comtypes contextily contourpy coverage crewai
  croniter cryptography cssselect cssutils curl_cffi cvxopt cvxpy cycler cython dacite darts dash dask
  datasets datashader dateparser ddgs deap deepdiff deltalake deprecated diffusers dill diskcache
  distributed django docker docopt docutils dowhy dpkt dspy duckdb duckdb_engine dynaconf easyocr econml
  ecos einops elasticsearch elasticsearch_dsl email_validator emcee emoji ephem esda et_xmlfile eventlet
  exchangelib fabric faker falcon fastapi fastavro fastmcp fastparquet fastprogress fasttext
  feature_engine feedparser filelock filterpy findspark fiona fire flair flake8 flask flask_caching
  flask_cors flask_jwt_extended flask_login flask_mail flask_marshmallow flask_migrate flask_redis
  flask_restful flask_socketio flask_sqlalchemy flask_wtf flatbuffers flax folium fontTools freezegun
  frozendict frozenlist fsspec ftfy fuzzywuzzy gcsfs gdown gensim geojson geopandas geopy geoviews gevent
  gluonts gmpy2 google.cloud.aiplatform google.cloud.bigquery google.cloud.datastore google.cloud.dlp
  google.cloud.firestore google.cloud.language google.cloud.logging google.cloud.monitoring
  google.cloud.pubsub google.cloud.spanner google.cloud.speech google.cloud.storage google.cloud.tasks
  google.cloud.texttospeech google.cloud.translate google.cloud.vision gradio graphene graphviz
  great_expectations greenlet groq gspread gtts gunicorn gurobipy gym gymnasium h11 h2 h3 h5netcdf h5py
  hdbscan highspy hmmlearn holoviews hpack html2text html5lib httpcore httplib2 httptools httpx httpx_sse
  huggingface_hub humanize hvac hvplot hypercorn hyperopt hypothesis icalendar icecream idna igraph
  imagehash imageio imageio_ffmpeg inflect inflection influxdb_client iniconfig ipykernel ipywidgets
  isodate isort itsdangerous jax jaxlib jedi jellyfish jieba jinja2 jiter jmespath joblib json5 jsonlines
  jsonpatch jsonpickle jsonpointer jsonschema jupyter jupyter_client jupyter_core jupyterlab jwcrypto
  kaleido kazoo keras keyring kiwisolver kmodes kornia lancedb langchain langchain_anthropic
  langchain_community langchain_core langchain_openai langdetect langgraph langsmith lark laspy ldap3
  libcst libpysal librosa lifelines lightgbm lightning line_profiler linearmodels litellm llama_index
  llvmlite locust loguru lxml lz4 mako mapclassify markdown markdown2 markdownify markupsafe marshmallow
  matplotlib matplotlib_inline mcp mdtraj mdurl mediapipe memory_profiler metpy missingno mistralai
  mistune mlflow mlxtend mne momepy mongoengine more_itertools moto motor moviepy mplcursors mplfinance
  mpmath msgpack multidict multiprocess munch mypy mypy_extensions napalm narwhals natsort nbclient
  nbconvert nbformat neo4j nest_asyncio netCDF4 netmiko networkx nevergrad nibabel nilearn ninja nltk
  notebook nox numba numcodecs numexpr numpy numpy_financial numpyro oauthlib ollama omegaconf onnx
  onnxruntime open3d openai openpyxl optax optuna oracledb orjson ortools osmnx osqp packaging paddleocr
  pandas pandas_datareader pandas_gbq pandera panel papermill paramiko parsel parso passlib pathos
  pathspec patsy pdf2image pdfplumber peewee peft pendulum pexpect phonenumbers pika pikepdf pinecone
  pingouin pint platformdirs playwright plotly plotnine pluggy plumbum ply pmdarima polars pony pooch
  portalocker prefect prettytable prometheus_client prompt_toolkit prophet psutil psycopg psycopg_pool
  ptyprocess pulp pyarrow pyautogui pybtex pycountry pycparser pydantic pydantic_ai pydantic_core
  pydantic_settings pydeck pydicom pydot pydub pyecharts pyflakes pygal pygame pygments pygraphviz pyhive
  pyinstrument pykalman pylint pymannkendall pymatgen pymc pymilvus pymongo pymoo pymssql pymysql
  pynndescent pynput pyod pyodbc pyomo pyotp pyparsing pypdf pypdfium2 pyperclip pyproj pyqtgraph
  pyreadstat pyrsistent pysal pysam pyscipopt pysftp pyshark pyspark pystan pytesseract pytest
  pytest_asyncio pytest_benchmark pytest_cov pytest_mock pytest_timeout pytorch_lightning pytz pyvis
  pyvista pyxlsb pyzbar qdrant_client qiskit qrcode qtpy quantstats questionary rank_bm25 rapidfuzz
  rasterio ratelimit ray rdflib rdkit redis referencing regex reportlab requests requests_cache
  requests_html requests_mock requests_oauthlib requests_toolbelt retrying rich rioxarray rpy2 rsa rtree
  ruff s3fs s3transfer sacrebleu sacremoses safetensors scapy scipy scrapy scs seaborn selenium
  sentence_transformers sentencepiece sentry_sdk seqeval setuptools shap shapely shellingham simplejson
  simpy six skorch sktime slack_sdk smart_open smolagents sniffio snowballstemmer sortedcontainers
  soundfile soupsieve spacy sphinx splink sqlalchemy sqlfluff sqlglot sqlmodel sqlparse squarify
  sse_starlette stack_data stanza starlette statsforecast statsmodels streamlit stripe structlog supabase
  sympy tables tabulate tantivy tblib tenacity tensorboard tensorflow tensorflow_datasets tensorflow_hub
  tensorflow_probability termcolor testcontainers textblob textdistance texttable textual thefuzz thinc
  threadpoolctl thrift tifffile tiktoken timm tinycss2 tinydb tokenizers toml tomli tomli_w tomlkit toolz
  torch torchaudio torchmetrics torchtext torchvision tornado tox tqdm trafilatura traitlets transformers
  trimesh trino trio trl tsfresh tslearn tweepy twilio twisted typeguard typer typing_extensions
  typing_inspect typing_inspection tzdata tzlocal ujson ultralytics uncertainties unidecode unstructured
  uritemplate urllib3 uvicorn uvloop vaderSentiment virtualenv vtk wandb watchdog watchfiles wcwidth
  weasyprint websockets werkzeug wheel whoosh wikipedia wordcloud wrapt wtforms xarray xformers xgboost
  xlrd xlsxwriter xlwings xlwt xmltodict xxhash yapf yarl yfinance yt_dlp zarr zeep zict zipp zope.event
  zope.interface zstandard`
  .trim()
  .split(/\s+/);

/** Of any version and system. */
export const STANDARD_LIBRARY: readonly string[] = `
  BaseHTTPServer CGIHTTPServer ConfigParser Cookie HTMLParser Queue SimpleHTTPServer SocketServer StringIO
  Tkinter UserDict UserList abc aifc annotationlib antigravity argparse array ast asynchat asyncio
  asyncore atexit audioop base64 bdb binascii binhex bisect builtins bz2 cPickle cProfile cStringIO
  calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys commands compileall
  compression concurrent configparser contextlib contextvars cookielib copy copyreg crypt csv ctypes
  curses dataclasses datetime dbm decimal difflib dis distutils doctest dummy_thread dummy_threading email
  encodings ensurepip enum errno exceptions faulthandler fcntl filecmp fileinput fnmatch formatter
  fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq
  hmac html htmlentitydefs http httplib idlelib ihooks imaplib imghdr imp importlib inspect io ipaddress
  itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math md5 mimetypes
  mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode
  operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib
  poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue
  quopri random re readline reprlib resource rlcompleter robotparser runpy sched secrets select selectors
  sets sha shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3
  sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symbol
  symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios test textwrap this thread
  threading time timeit tkFileDialog tkMessageBox tkinter token tokenize tomllib trace traceback
  tracemalloc ttk tty turtle turtledemo types typing unicodedata unittest urllib urllib2 urlparse user uu
  uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc xmlrpclib xxlimited
  xxsubtype zipapp zipfile zipimport zlib zoneinfo`
  .trim()
  .split(/\s+/);
