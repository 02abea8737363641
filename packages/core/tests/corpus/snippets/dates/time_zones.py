from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones
for name in ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"):
    print(name, datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("UTC")).astimezone(ZoneInfo(name)).isoformat())
print(datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")).utcoffset(), len(available_timezones()) > 400)
try:
    ZoneInfo("Mars/Base")
except ZoneInfoNotFoundError as error:
    print(error)
