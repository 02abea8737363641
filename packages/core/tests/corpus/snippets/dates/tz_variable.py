import os, time
print(time.tzname, time.timezone, time.localtime(0).tm_hour, time.strftime("%Z"))
os.environ["TZ"] = "America/New_York"
time.tzset()
print(time.tzname, time.localtime(0)[:6], time.mktime((2024, 1, 1, 0, 0, 0, 0, 0, -1)))
