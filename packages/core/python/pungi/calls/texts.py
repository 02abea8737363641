"""Parses texts as other types. A text that does not parse raises ValueError."""

import json
import re

_WHOLE_TEXT = re.compile(r"\s*([+-]?[0-9]+)(?:\.0*)?\s*")
_NUMBER_TEXT = re.compile(r"\s*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)\s*", re.I)
_DATE_TEXT = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_CLOCK_TEXT = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
_ZONE_TEXT = r"\s?([Zz]|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)?"
_DATE_ONLY = re.compile(_DATE_TEXT)
_CLOCK_ONLY = re.compile(_CLOCK_TEXT + _ZONE_TEXT)
_DATE_AND_CLOCK = re.compile(f"{_DATE_TEXT}(?:[Tt ]{_CLOCK_TEXT}{_ZONE_TEXT})?")
_AMOUNT = r"([0-9]+(?:[.,][0-9]+)?)"
_ISO_DURATION = re.compile(
    rf"([+-]?)P(?:{_AMOUNT}W)?(?:{_AMOUNT}D)?(?:T(?:{_AMOUNT}H)?(?:{_AMOUNT}M)?(?:{_AMOUNT}S)?)?", re.I
)
_CLOCK_DURATION = re.compile(r"([+-]?)(?:([0-9]+) ?d(?:ays?)?,? ?)?([0-9]+):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?", re.I)
_TRUTHS = {
    **dict.fromkeys(("true", "yes", "on", "y", "t", "1"), True),
    **dict.fromkeys(("false", "no", "off", "n", "f", "0"), False),
}
_LONGEST_SCALAR = 5000


def read_whole_number(text):
    return int(_matched_text(_WHOLE_TEXT, text)[1])


def read_number(text):
    _matched_text(_NUMBER_TEXT, text)
    return int(text) if _WHOLE_TEXT.fullmatch(text) and "." not in text else float(text)


def read_truth(text):
    value = _TRUTHS.get(text.strip().lower())
    if value is None:
        raise ValueError("neither true nor false")
    return value


def read_datetime(text):
    """Parses ISO 8601, on every Python version alike. A date alone is its midnight."""
    import datetime

    year, month, day, hour, minute, second, fraction, zone = _matched_text(_DATE_AND_CLOCK, text.strip()).groups()
    parts = (hour or 0, minute or 0, second or 0, _microseconds(fraction))
    return datetime.datetime(*map(int, (year, month, day, *parts)), tzinfo=_time_zone(zone))


def read_date(text):
    """Also accepts a date with the time 00:00, which many programs send."""
    import datetime

    if matched := _DATE_ONLY.fullmatch(text.strip()):
        return datetime.date(*map(int, matched.groups()))
    moment = read_datetime(text)
    if moment.time() != datetime.time():
        raise ValueError("more than a date")
    return moment.date()


def read_time(text):
    import datetime

    hour, minute, second, fraction, zone = _matched_text(_CLOCK_ONLY, text.strip()).groups()
    return datetime.time(int(hour), int(minute), int(second or 0), _microseconds(fraction), tzinfo=_time_zone(zone))


def read_timedelta(text):
    """Parses ISO 8601 (P1DT2H), hours with minutes and seconds (26:00:00), or seconds alone."""
    import datetime

    text = text.strip()
    try:
        if matched := _ISO_DURATION.fullmatch(text):
            sign, *amounts = matched.groups()
            if not any(amounts):
                raise ValueError("no amount of time")
            amounts = [float((amount or "0").replace(",", ".")) for amount in amounts]
            span = datetime.timedelta(**dict(zip(("weeks", "days", "hours", "minutes", "seconds"), amounts)))
        elif matched := _CLOCK_DURATION.fullmatch(text):
            sign, days, hours, minutes, seconds = matched.groups()
            span = datetime.timedelta(int(days or 0), hours=int(hours), minutes=int(minutes), seconds=float(seconds or 0))
        else:
            return datetime.timedelta(seconds=read_number(text))
    except OverflowError as error:
        raise ValueError("too long a time") from error
    return -span if sign == "-" else span


def write_timedelta(span):
    """Formats a duration as ISO 8601, exactly."""
    sign, span = ("-", -span) if span.days < 0 else ("", span)
    minutes, seconds = divmod(span.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{span.microseconds:06d}".rstrip("0") if span.microseconds else ""
    clock = "".join(
        f"{amount}{unit}" for amount, unit in ((hours, "H"), (minutes, "M"), (f"{seconds}{fraction}", "S"))
        if str(amount) != "0"
    )
    days = f"{span.days}D" if span.days else ""
    return f"{sign}P{days}T{clock}" if clock else f"{sign}P{days or '0D'}"


def read_base64(text):
    """Decodes base64, also of a data URL or in the URL-safe alphabet."""
    import base64

    if text.startswith("data:"):
        head, comma, text = text.partition(",")
        if not comma or not head.endswith(";base64"):
            raise ValueError("no base64")
    text = "".join(text.split()).replace("-", "+").replace("_", "/")
    return base64.b64decode(text, validate=True)


def to_whole_number(value):
    if type(value) is str:
        return read_whole_number(value)
    if type(value) is float and value.is_integer():
        return int(value)
    raise ValueError("no whole number")


def to_number(value):
    if type(value) is str:
        return read_number(value)
    raise ValueError("no number")


def to_truth(value):
    if type(value) is str:
        return read_truth(value)
    if type(value) in (int, float) and value in (0, 1):
        return bool(value)
    raise ValueError("neither true nor false")


def decode_as(kind, value):
    """Parses a JSON text, which must contain this type: many clients send lists and objects as texts."""
    decoded = json.loads(value) if type(value) is str and value.strip()[:1] in tuple("[{") else None
    if type(decoded) is not kind:
        raise ValueError("no such JSON")
    return decoded


def _matched_text(pattern, text):
    matched = pattern.fullmatch(text) if len(text) <= _LONGEST_SCALAR else None
    if matched is None:
        raise ValueError("not in this form")
    return matched


def _microseconds(fraction):
    return int(f"{fraction or '':0<6}"[:6])


def _time_zone(text):
    import datetime

    if not text:
        return None
    if text in "Zz":
        return datetime.timezone.utc
    digits = text[1:].replace(":", "").ljust(6, "0")
    span = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:4]), seconds=int(digits[4:]))
    return datetime.timezone(-span if text[0] == "-" else span)
