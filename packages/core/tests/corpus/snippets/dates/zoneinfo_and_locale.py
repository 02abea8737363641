import datetime, locale, time, zoneinfo
print(locale.getlocale(), locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(), locale.localeconv()["decimal_point"])
try:
    locale.setlocale(locale.LC_ALL, "xx_XX.UTF-8")
except locale.Error as error:
    print(error)
print(locale.setlocale(locale.LC_NUMERIC, "C"), locale.format_string("%d", 1234567, grouping=True), locale.strxfrm("a") < locale.strxfrm("b"))
names = zoneinfo.available_timezones()
print(len(names) > 0, zoneinfo.TZPATH)
for name in ("Europe/Berlin", "America/New_York", "Mars/Olympus"):
    try:
        zone = zoneinfo.ZoneInfo(name)
        for month in (1, 7):
            moment = datetime.datetime(2024, month, 1, 12, tzinfo=zone)
            print(moment.isoformat(), moment.tzname(), moment.dst(), moment.astimezone(datetime.timezone.utc))
    except zoneinfo.ZoneInfoNotFoundError as error:
        print(error)
print(time.tzname, time.timezone, datetime.datetime.fromtimestamp(0).isoformat(), datetime.datetime.fromtimestamp(0).astimezone().tzinfo)
print(time.strftime("%A %d %B %Y %p %c", time.gmtime(0)))
