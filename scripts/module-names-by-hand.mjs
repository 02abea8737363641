// Corrections to the data of pipreqs. Read by update-module-names.mjs.

/** `module=distribution` for modules that pipreqs lacks, maps wrongly or has outdated. */
export const CORRECTIONS = pairs(`
  AppKit=pyobjc-framework-cocoa Bio=biopython Box2D=box2d-py Foundation=pyobjc-framework-cocoa
  MeCab=mecab-python3 MySQLdb=mysqlclient Quartz=pyobjc-framework-quartz RPi=rpi-gpio
  Xlib=python-xlib _pytest=pytest airflow=apache-airflow allauth=django-allauth
  antlr4=antlr4-python3-runtime appium=appium-python-client argon2=argon2-cffi
  attr=attrs auth0=auth0-python barcode=python-barcode benedict=python-benedict
  bluetooth=pybluez bs4=beautifulsoup4 cairo=pycairo
  camelot=camelot-py can=python-can capnp=pycapnp cattr=cattrs
  cinderclient=python-cinderclient consul=python-consul
  corsheaders=django-cors-headers cpuinfo=py-cpuinfo cv2=opencv-python dbt=dbt-core
  debug_toolbar=django-debug-toolbar django_filters=django-filter
  docx=python-docx 
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
  absl=absl-py ax=ax-platform bayes_opt=bayesian-optimization databricks.sql=databricks-sql-connector
  haystack=haystack-ai ibis=ibis-framework impala=impyla odf=odfpy opensearchpy=opensearch-py shapefile=pyshp
  skfuzzy=scikit-fuzzy snowflake.connector=snowflake-connector-python snowflake.sqlalchemy=snowflake-sqlalchemy
  weaviate=weaviate-client samtranslator=aws-sam-translator sdl2=pysdl2 servicemanager=pywin32 shopify=shopifyapi
  skimage=scikit-image skopt=scikit-optimize sksurv=scikit-survival skvideo=scikit-video
  slugify=python-slugify smartcard=pyscard smb=pysmb smbclient=smbprotocol
  snappy=python-snappy socks=pysocks speech_recognition=speechrecognition spnego=pyspnego
  stl=numpy-stl stomp=stomp-py superset=apache-superset surprise=scikit-surprise
  tabula=tabula-py talib=ta-lib umap=umap-learn vcr=vcrpy
  vertexai=google-cloud-aiplatform vlc=python-vlc whisper=openai-whisper
  whois=python-whois win32api=pywin32 win32clipboard=pywin32 win32com=pywin32
  win32con=pywin32 win32event=pywin32 win32file=pywin32 win32gui=pywin32
  win32print=pywin32 win32process=pywin32 win32security=pywin32 win32service=pywin32
  win32serviceutil=pywin32 winerror=pywin32 wx=wxpython yara=yara-python`);

/** Well-known modules whose distribution has the same name. No other name is suggested: anyone could register it. */
export const SAME_NAME = words(`
  Cython IPython Levenshtein MDAnalysis PyPDF2 PyQt5 PyQt6 PySide2 PySide6 QuantLib SimpleITK accelerate
  adbc_driver_postgresql adbc_driver_sqlite aiobotocore aiofiles aiohttp aiomysql aiopg aioredis aiosqlite
  albumentations alembic altair annotated_types anthropic anyio apscheduler arrow arviz asgiref astropy asttokens
  asyncpg asyncssh authlib autograd av azure.core azure.cosmos azure.identity azure.keyvault.secrets
  azure.storage.blob babel backoff backports.zoneinfo bandit bcrypt beanie beartype bitarray bitsandbytes black
  bleach blinker blosc bokeh boto3 botocore bottle bottleneck branca brotli cachetools cartopy casadi catboost
  category_encoders cattrs celery cerberus certifi cffi cfgrib chardet charset_normalizer chromadb cityhash
  clarabel click click_plugins clickhouse_connect clickhouse_driver cloudpickle cmdstanpy cohere colorama
  colorcet colorlog comtypes contextily contourpy coverage crewai croniter cryptography cssselect cssutils
  curl_cffi cvxopt cvxpy cycler cython dacite darts dash dask datasets datashader dateparser ddgs deap deepdiff
  deltalake deprecated diffusers dill diskcache distributed django docker docopt docutils dowhy dpkt dspy duckdb
  duckdb_engine dynaconf easyocr econml ecos einops elasticsearch elasticsearch_dsl email_validator emcee emoji
  ephem esda et_xmlfile eventlet exchangelib fabric faker falcon fastapi fastavro fastmcp fastparquet
  fastprogress fasttext feature_engine feedparser filelock filterpy findspark fiona fire flair flake8 flask
  flask_caching flask_cors flask_jwt_extended flask_login flask_mail flask_marshmallow flask_migrate flask_redis
  flask_restful flask_socketio flask_sqlalchemy flask_wtf flatbuffers flax folium fontTools freezegun frozendict
  frozenlist fsspec ftfy fuzzywuzzy gcsfs gdown gensim geojson geopandas geopy geoviews gevent gluonts gmpy2
  google.cloud.aiplatform google.cloud.bigquery google.cloud.datastore google.cloud.dlp google.cloud.firestore
  google.cloud.language google.cloud.logging google.cloud.monitoring google.cloud.pubsub google.cloud.spanner
  google.cloud.speech google.cloud.storage google.cloud.tasks google.cloud.texttospeech google.cloud.translate
  google.cloud.vision gradio graphene graphviz great_expectations greenlet groq gspread gtts gunicorn gurobipy
  gym gymnasium h11 h2 h3 h5netcdf h5py hdbscan highspy hmmlearn holoviews hpack html2text html5lib httpcore
  httplib2 httptools httpx httpx_sse huggingface_hub humanize hvac hvplot hypercorn hyperopt hypothesis icalendar
  icecream idna igraph imagehash imageio imageio_ffmpeg inflect inflection influxdb_client iniconfig ipykernel
  ipywidgets isodate isort itsdangerous jax jaxlib jedi jellyfish jieba jinja2 jiter jmespath joblib json5
  jsonlines jsonpatch jsonpickle jsonpointer jsonschema jupyter jupyter_client jupyter_core jupyterlab jwcrypto
  kaleido kazoo keras keyring kiwisolver kmodes kornia lancedb langchain langchain_anthropic langchain_community
  langchain_core langchain_openai langdetect langgraph langsmith lark laspy ldap3 libcst libpysal librosa
  lifelines lightgbm lightning line_profiler linearmodels litellm llama_index llvmlite locust loguru lxml lz4
  mako mapclassify markdown markdown2 markdownify markupsafe marshmallow matplotlib matplotlib_inline mcp mdtraj
  mdurl mediapipe memory_profiler metpy missingno mistralai mistune mlflow mlxtend mne momepy mongoengine
  more_itertools moto motor moviepy mplcursors mplfinance mpmath msgpack multidict multiprocess munch mypy
  mypy_extensions napalm narwhals natsort nbclient nbconvert nbformat neo4j nest_asyncio netCDF4 netmiko networkx
  nevergrad nibabel nilearn ninja nltk notebook nox numba numcodecs numexpr numpy numpy_financial numpyro
  oauthlib ollama omegaconf onnx onnxruntime open3d openai openpyxl optax optuna oracledb orjson ortools osmnx
  osqp packaging paddleocr pandas pandas_datareader pandas_gbq pandera panel papermill paramiko parsel parso
  passlib pathos pathspec patsy pdf2image pdfplumber peewee peft pendulum pexpect phonenumbers pika pikepdf
  pinecone pingouin pint platformdirs playwright plotly plotnine pluggy plumbum ply pmdarima polars pony pooch
  portalocker prefect prettytable prometheus_client prompt_toolkit prophet psutil psycopg psycopg_pool ptyprocess
  pulp pyarrow pyautogui pybtex pycountry pycparser pydantic pydantic_ai pydantic_core pydantic_settings pydeck
  pydicom pydot pydub pyecharts pyflakes pygal pygame pygments pygraphviz pyhive pyinstrument pykalman pylint
  pymannkendall pymatgen pymc pymilvus pymongo pymoo pymssql pymysql pynndescent pynput pyod pyodbc pyomo pyotp
  pyparsing pypdf pypdfium2 pyperclip pyproj pyqtgraph pyreadstat pyrsistent pysal pysam pyscipopt pysftp pyshark
  pyspark pystan pytesseract pytest pytest_asyncio pytest_benchmark pytest_cov pytest_mock pytest_timeout
  pytorch_lightning pytz pyvis pyvista pyxlsb pyzbar qdrant_client qiskit qrcode qtpy quantstats questionary
  rank_bm25 rapidfuzz rasterio ratelimit ray rdflib rdkit redis referencing regex reportlab requests
  requests_cache requests_html requests_mock requests_oauthlib requests_toolbelt retrying rich rioxarray rpy2 rsa
  rtree ruff s3fs s3transfer sacrebleu sacremoses safetensors scapy scipy scrapy scs seaborn selenium
  sentence_transformers sentencepiece sentry_sdk seqeval setuptools shap shapely shellingham simplejson simpy six
  skorch sktime slack_sdk smart_open smolagents sniffio snowballstemmer sortedcontainers soundfile soupsieve
  spacy sphinx splink sqlalchemy sqlfluff sqlglot sqlmodel sqlparse squarify sse_starlette stack_data stanza
  starlette statsforecast statsmodels streamlit stripe structlog supabase sympy tables tabulate tantivy tblib
  tenacity tensorboard tensorflow tensorflow_datasets tensorflow_hub tensorflow_probability termcolor
  testcontainers textblob textdistance texttable textual thefuzz thinc threadpoolctl thrift tifffile tiktoken
  timm tinycss2 tinydb tokenizers toml tomli tomli_w tomlkit toolz torch torchaudio torchmetrics torchtext
  torchvision tornado tox tqdm trafilatura traitlets transformers trimesh trino trio trl tsfresh tslearn tweepy
  twilio twisted typeguard typer typing_extensions typing_inspect typing_inspection tzdata tzlocal ujson
  ultralytics uncertainties unidecode unstructured uritemplate urllib3 uvicorn uvloop vaderSentiment virtualenv
  vtk wandb watchdog watchfiles wcwidth weasyprint websockets werkzeug wheel whoosh wikipedia wordcloud wrapt
  wtforms xarray xformers xgboost xlrd xlsxwriter xlwings xlwt xmltodict xxhash yapf yarl yfinance yt_dlp zarr
  zeep zict zipp zope.event zope.interface zstandard`);

/** The standard library of Python 2, and modules of newer versions than the current interpreter. */
export const OTHER_STANDARD_LIBRARY = words(`
  BaseHTTPServer CGIHTTPServer ConfigParser Cookie HTMLParser Queue SimpleHTTPServer SocketServer StringIO Tkinter
  UserDict UserList cPickle cStringIO commands cookielib dummy_thread exceptions htmlentitydefs httplib ihooks
  md5 robotparser sets sha thread tkFileDialog tkMessageBox ttk urllib2 urlparse user xmlrpclib
  annotationlib compression tomllib`);

/** Entries of pipreqs that are left out: wrong, obsolete, or a common word that a little-known distribution uses. */
export const LEFT_OUT = words(`
  azure backports common config core db demo dogpile example examples google helpers jaraco lazr lib main plone project
  scripts settings sphinxcontrib src tests tools tw2 utils version z3c zope
  app_data bashutils box braces cache_utils chef cms colors community compressor constraint contracts curator daemon depot
  direct editor em encutils environ facebook factory functional geoserver hostlist johnny keyedcache marionette metlog
  migrate modargs native_tags parler patricia picklefield polymorphic quadtree recaptcha_works restclient reversion robot
  sendfile storages stubout tabix termstyle validate visa
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
