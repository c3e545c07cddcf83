import base64, binascii, bisect, calendar, cmath, collections, collections.abc, copy, csv, datetime, decimal, difflib, fractions
import graphlib, hashlib, heapq, hmac, html, io, ipaddress, itertools, json, math, numbers, operator, pprint, random, re, statistics
import string, struct, sys, textwrap, types, unicodedata, urllib.parse, uuid, zlib, array, fnmatch, shlex, ast
import email.utils
import xml.etree.ElementTree as ET
from xml.sax.saxutils import escape
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from datetime import date, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal, getcontext
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace
from urllib.parse import parse_qs, quote, urlencode, urljoin, urlparse
from zoneinfo import ZoneInfo

print(math.sqrt(16), math.comb(5, 2), math.isclose(0.1 + 0.2, 0.3), math.inf, cmath.sqrt(-1))
print(Counter("hello").most_common(1), Counter(a=1) + Counter(a=2), OrderedDict(a=1), deque([1, 2, 3], maxlen=2), ChainMap({"a": 1}, {"b": 2})["b"])
dd = defaultdict(list); dd["x"].append(1); print(dict(dd), dd)
print(json.dumps({"b": [1, None, True], "a": "é"}, indent=1, sort_keys=True), json.loads('{"x": [1.5]}'))
class Enc(json.JSONEncoder):
    def default(self, o): return str(o)
print(json.dumps({"d": date(2024, 1, 2)}, cls=Enc), json.dumps(Decimal("1.1"), default=str))
try:
    json.loads("{bad")
except json.JSONDecodeError as e: print(type(e).__name__, e.pos)
m = re.search(r"(?P<y>\d{4})-(\d\d)", "on 2024-05"); print(m.group("y"), m.groups(), m.groupdict(), m.span(), m[2])
print(re.sub(r"\s+", lambda m: "_", "a  b c"), re.split(r"[,;]", "a,b;c"), re.findall(r"\w+", "a b"), re.compile("a", re.I).pattern, [x.group() for x in re.finditer("a.", "abac")])
print(date(2024, 2, 28) + timedelta(days=2), (datetime.datetime(2024, 1, 1) - datetime.datetime(2023, 1, 1)).days, datetime.datetime(2024, 3, 1, tzinfo=timezone.utc).isoformat())
print(datetime.datetime.strptime("2024-01-02 03:04", "%Y-%m-%d %H:%M").strftime("%d/%m/%y %I%p"), date.fromisoformat("2024-05-06").isocalendar(), datetime.datetime.fromtimestamp(0, tz=ZoneInfo("Europe/Berlin")))
print(ZoneInfo("Europe/Berlin") is ZoneInfo(key="Europe/Berlin"), repr(ZoneInfo("UTC")), str(ZoneInfo("UTC")), ZoneInfo.no_cache("UTC") is ZoneInfo("UTC"), type(ZoneInfo("UTC")) is ZoneInfo, copy.copy(ZoneInfo("UTC")) is ZoneInfo("UTC"), repr(datetime.datetime(2024, 7, 1, tzinfo=ZoneInfo("Europe/Paris")).astimezone(ZoneInfo("America/New_York"))))
print(calendar.monthrange(2024, 2), calendar.isleap(2023), calendar.month_name[3], list(calendar.day_abbr))
print(statistics.mean([1, 2, 3]), statistics.median([1, 5, 2]), statistics.stdev([1, 2, 3]), statistics.mode("aab"), statistics.quantiles([1, 2, 3, 4]))
print(Decimal("1.10") + Decimal("2"), Decimal("2.675").quantize(Decimal("0.01"), rounding=ROUND_HALF_UP), Fraction(1, 3) + Fraction(1, 6), Fraction("0.25"))
getcontext().prec = 6
print(Decimal(1) / Decimal(7))
with decimal.localcontext() as ctx:
    ctx.prec = 3
    print(Decimal(1) / Decimal(7))
h = [5, 1, 3]; heapq.heapify(h); heapq.heappush(h, 0); print(heapq.heappop(h), heapq.nlargest(2, h), bisect.bisect([1, 3], 2))
print(list(itertools.permutations("ab")), list(itertools.combinations(range(3), 2)), list(itertools.accumulate([1, 2, 3])), list(itertools.product([1], "a")), list(itertools.zip_longest([1], [2, 3], fillvalue=0)), list(itertools.pairwise("abc")))
print(operator.itemgetter(1)([5, 6]), operator.attrgetter("real")(3), operator.add(1, 2), operator.methodcaller("upper")("a"), sorted([{"a": 2}, {"a": 1}], key=operator.itemgetter("a")))
print(hashlib.sha256(b"x").hexdigest()[:8], hashlib.md5(b"").hexdigest()[:4], hmac.new(b"k", b"m", "sha1").hexdigest()[:6], base64.b64encode(b"hi"), base64.urlsafe_b64decode("aGk="), binascii.hexlify(b"a"), zlib.crc32(b"a"), zlib.decompress(zlib.compress(b"zz")))
print(html.escape("<a&b>"), html.unescape("&lt;"), escape("<x>"), quote("a b/c"), urlencode({"a": 1, "b": "x y"}), urljoin("http://a/b", "c"), urlparse("http://h:1/p?q=1#f").netloc, parse_qs("a=1&a=2"))
print(string.ascii_lowercase[:3], string.Template("$a b").substitute(a=1), string.capwords("a b"), string.Formatter().format("{0}-{x}", 1, x=2), textwrap.dedent("  a\n  b"), textwrap.fill("a b c d", 3), textwrap.shorten("hello world foo", 12))
out = io.StringIO(); w = csv.writer(out); w.writerow(["a", "b,c"]); print(repr(out.getvalue()), list(csv.DictReader(io.StringIO("x,y\n1,2\n"))), list(csv.reader(["a,b"])))
dw = io.StringIO(); d = csv.DictWriter(dw, fieldnames=["a"]); d.writeheader(); d.writerow({"a": 1}); print(dw.getvalue().split())
b = io.BytesIO(b"abc"); print(b.read(2), struct.pack(">H", 258), struct.unpack("<I", b"\x01\0\0\0"), array.array("i", [1, 2]).tolist())
print(unicodedata.normalize("NFKD", "é").encode("ascii", "ignore"), unicodedata.name("a"), difflib.get_close_matches("appel", ["apple", "x"]), round(difflib.SequenceMatcher(None, "abc", "abd").ratio(), 2))
print(uuid.UUID("12345678123456781234567812345678"), uuid.uuid5(uuid.NAMESPACE_DNS, "a"), len(str(uuid.uuid4())), ipaddress.ip_address("10.0.0.1").is_private, ipaddress.ip_network("10.0.0.0/30").num_addresses, [str(x) for x in ipaddress.ip_network("10.0.0.0/30").hosts()])
print(copy.deepcopy({"a": [1]}), copy.copy([1]), SimpleNamespace(a=1), MappingProxyType({"a": 1})["a"], isinstance(3, numbers.Number), isinstance([], collections.abc.Sequence), issubclass(dict, collections.abc.Mapping))
ns = SimpleNamespace(x=1); ns.y = 2; ns.x += 1; print(ns, vars(ns))
print(list(graphlib.TopologicalSorter({"b": {"a"}}).static_order()), pprint.pformat({"a": 1}), fnmatch.fnmatch("a.py", "*.py"), shlex.split("a 'b c'"), ast.literal_eval("[1, {'a': (2,)}]"))
pprint.pprint({"b": 1, "a": [1, 2]})
root = ET.fromstring("<r><i k='1'>t</i><i k='2'/></r>"); print([(e.tag, e.get("k"), e.text) for e in root.iter("i")], root.find("i").text, ET.tostring(root))
el = ET.Element("a"); ET.SubElement(el, "b").text = "x"; print(ET.tostring(el, encoding="unicode"))
print(email.utils.parseaddr("A <a@b.c>"), email.utils.formataddr(("N", "n@x")), email.utils.parsedate_to_datetime("Mon, 01 Jan 2024 00:00:00 +0000"))
print(sys.byteorder in ("little", "big"), sys.getsizeof([]) > 0, len(sys.version) > 3)
print("x", "y", sep="-", end="!\n"); print("err", file=sys.stdout); sys.stdout.write("w\n")
random.seed(1); a = random.random(); random.seed(1); print(a == random.random(), random.Random(5).randint(1, 100), random.Random(5).sample(range(100), 3))
def plain(*a, **k): return sorted(locals())
print(plain(1, b=2), callable(plain), types.FunctionType is type(plain) or isinstance(plain, types.FunctionType))
import time
started = time.process_time(), time.thread_time_ns(); time.sleep(0.001); print(time.process_time() >= started[0], time.thread_time_ns() >= started[1])
from http import HTTPMethod, HTTPStatus
print(HTTPStatus.OK, HTTPStatus(404).phrase, HTTPStatus.TOO_MANY_REQUESTS == 429, HTTPStatus["CREATED"].value, repr(HTTPMethod.GET), 500 in list(HTTPStatus), HTTPStatus.OK + 1)
