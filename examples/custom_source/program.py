[sky.forecast(city=city) for city in ("Oslo", "Rome")]
