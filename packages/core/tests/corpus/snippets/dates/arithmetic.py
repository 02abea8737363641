from datetime import date, datetime, timedelta, timezone
start = datetime(2024, 2, 28, 23, 30, tzinfo=timezone.utc)
print(start + timedelta(hours=25), (date(2025, 1, 1) - date(2024, 1, 1)).days, start.isoformat(), start.timestamp())
print(start.astimezone(timezone(timedelta(hours=5, minutes=30))), start.strftime("%A %d %B %Y %H:%M:%S %Z %j %U"))
print(datetime.strptime("03/Feb/2021 04:05", "%d/%b/%Y %H:%M"), date.fromisoformat("2024-12-31").isocalendar())
print(timedelta(days=-1, seconds=5), divmod(timedelta(hours=5), timedelta(hours=2)), date.max, datetime.min)
