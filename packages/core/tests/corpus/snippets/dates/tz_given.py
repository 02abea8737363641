# env: {"TZ": "Asia/Tokyo"}
import datetime, time
print(time.tzname, datetime.datetime.fromtimestamp(0), datetime.datetime(2024, 1, 1).astimezone().utcoffset())
