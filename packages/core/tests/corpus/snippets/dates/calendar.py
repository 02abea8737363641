import calendar
print(calendar.month(2024, 2), calendar.isleap(2100), calendar.monthrange(2023, 2), calendar.day_name[0])
print(calendar.timegm((2001, 9, 9, 1, 46, 40)), list(calendar.Calendar().itermonthdates(2024, 9))[0])
print(calendar.HTMLCalendar().formatmonth(2024, 1)[:60])
