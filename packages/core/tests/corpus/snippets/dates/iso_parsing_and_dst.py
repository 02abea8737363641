from datetime import datetime, timedelta, timezone
import time, email.utils
print(datetime.fromisoformat("2024-03-10T12:30:00+02:00").astimezone(timezone.utc), time.strptime("1 Jan 2024", "%d %b %Y").tm_yday)
print(datetime(2024, 2, 29).replace(tzinfo=timezone.utc).timestamp(), datetime.min, timedelta.max, email.utils.format_datetime(datetime(2024, 1, 1)))
print(time.tzname, time.timezone, time.localtime(0)[:6], time.strftime("%Z", time.localtime(0)), datetime.fromtimestamp(0).isoformat())
print(datetime(2024, 1, 1).strftime("%A %B %j %U %p %c %x %X"))
