import datetime, decimal, json
class Encoder(json.JSONEncoder):
    def default(self, value):
        if isinstance(value, (datetime.date, decimal.Decimal)):
            return str(value)
        return super().default(value)
print(json.dumps({"d": datetime.date(2024, 2, 29), "p": decimal.Decimal("1.10")}, cls=Encoder))
print(json.loads("1.10", parse_float=decimal.Decimal), json.loads("[1, 2]", parse_int=float))
json.dumps({1, 2})
