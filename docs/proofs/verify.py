"""Verifies that a key is, or is not, in a version of a list: python3 verify.py PROOF.json [CONTENT_HASH]. See ../proofs.md."""
import hashlib, json, re, sys
from decimal import Decimal


def sha(domain, data):
    return hashlib.sha256(f"probity.{domain}.1\n".encode() + data).digest()


def number(value):  # as ECMAScript writes it
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    digits, _, exponent = (text := repr(value)).partition("e-")
    return text if not exponent else format(Decimal(text), "f") if int(exponent) < 7 else f"{digits}e-{int(exponent)}"


def canonical(value):  # RFC 8785
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number(value) if is_number else json.dumps(value, ensure_ascii=False)


def entry_hash(value):
    return sha("entry", b"" if value is None else canonical(value).encode()).hex()


def fold(count, index, pairs, siblings):  # from a bucket to the root
    node = sha("bucket", bytes.fromhex("".join(key + entry for key, entry in pairs)))
    for height, sibling in enumerate(siblings):
        node = sha("node", sibling + node if index >> height & 1 else node + sibling)
    return sha("root", count.to_bytes(8, "big") + node).hex()


def change_hash(op, base_hash, value):  # of an overlay: a tree with this one entry, unless it is a plain put
    if op == "put" and base_hash is None:
        return entry_hash(value)
    key = sha("key", b"operation").hex()
    empty = [sha("bucket", b"")]
    while len(empty) < 8:
        empty.append(sha("node", empty[-1] * 2))
    pair = (key, entry_hash({"op": op, "hash": entry_hash(value), "base_hash": base_hash}))
    return fold(1, int(key, 16) >> 248, [pair], empty)


def verify(answer, content_hash=None):
    proof, key, present = answer["proof"], sha("key", answer["key"].encode()).hex(), answer["present"]
    count, bucket, siblings = proof["count"], proof["bucket"], proof["siblings"]
    bits = next(bits for bits in range(8, 25) if count <= 64 * 2**bits or bits == 24)
    hashes = [*siblings, *(each for pair in bucket for each in pair)]
    keys = [pair[0] for pair in bucket]
    shown = answer["change"] if "change" in answer else answer["entry"]
    wanted = None if shown is None else change_hash(**shown) if "change" in answer else entry_hash(shown)
    return (
        all(re.fullmatch("[0-9a-f]{64}", each) for each in hashes)
        and len(bucket) <= count and len(siblings) == bits and all(len(pair) == 2 for pair in bucket)
        and keys == sorted(set(keys)) and {int(each, 16) >> 256 - bits for each in [*keys, key]} == {int(key, 16) >> 256 - bits}
        and dict(bucket).get(key) == proof["entry_hash"] == wanted and present is (wanted is not None)
        and proof["key_hash"] == key and content_hash in (None, proof["root"])
        and proof["root"] == fold(count, int(key, 16) >> 256 - bits, bucket, map(bytes.fromhex, siblings))
    )


if __name__ == "__main__":
    try:
        proved = verify(json.load(open(sys.argv[1], encoding="utf-8")), *sys.argv[2:3])
    except (ValueError, KeyError, TypeError, OverflowError, AttributeError) as fault:
        proved = print("not a proof:", repr(fault), file=sys.stderr)
    sys.exit(print("proved") if proved else "NOT PROVED")
