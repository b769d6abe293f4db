/**
 * The values of a credential as one buffer: names and values with their lengths. Decoded values are views of it, so that
 * overwriting the buffer removes all of them from memory.
 */

export type SecretMembers = ReadonlyMap<string, Buffer>

export function encodeMembers(members: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(members)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => [toSizedBytes(name), toSizedBytes(value)])
  const encoded = Buffer.concat(parts)
  for (const part of parts) part.fill(0)
  return encoded
}

function toSizedBytes(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  const sized = Buffer.alloc(4 + bytes.length)
  sized.writeUInt32BE(bytes.length, 0)
  bytes.copy(sized, 4)
  bytes.fill(0)
  return sized
}

export function decodeMembers(encoded: Buffer): SecretMembers {
  const members = new Map<string, Buffer>()
  let offset = 0
  const readPart = (): Buffer => {
    const start = offset + 4
    offset = start + encoded.readUInt32BE(offset)
    if (offset > encoded.length) throw new RangeError('the stored members of a credential are cut short')
    return encoded.subarray(start, offset)
  }
  while (offset < encoded.length) {
    const name = readPart().toString('utf8')
    members.set(name, readPart())
  }
  return members
}
