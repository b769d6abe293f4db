/** A DNS server on this machine (RFC 1035) that answers questions for IPv4 addresses from a table; every answer has a lifetime of 0. */
import dgram from 'node:dgram'

export type NameRecord = { readonly a: string } | { readonly cname: string }
/** Called with how often the name was asked for. */
export type NameTable = Readonly<Record<string, (asked: number) => readonly NameRecord[]>>

const TYPE_A = 1
const TYPE_CNAME = 5
const CLASS_IN = 1
const HEADER_BYTES = 12

export async function startNameServer(table: NameTable) {
  const asked = new Map<string, number>()
  const socket = dgram.createSocket('udp4')
  socket.on('message', (question, from) => {
    const { name, type, end } = readQuestion(question)
    const isKnown = Object.hasOwn(table, name)
    if (type === TYPE_A) asked.set(name, (asked.get(name) ?? 0) + 1)
    const records = isKnown && type === TYPE_A ? (table[name]?.(asked.get(name) ?? 1) ?? []) : []
    socket.send(encodeReply(question.subarray(0, end), name, records, isKnown), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  }
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

/** An alias is the owner of the records behind it. */
function encodeReply(question: Buffer, name: string, records: readonly NameRecord[], isKnown: boolean): Buffer {
  const reply = Buffer.from(question)
  reply.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2)
  reply.writeUInt16BE(records.length, 6)
  reply.fill(0, 8, HEADER_BYTES)
  let owner = name
  const answers = records.map((record) => {
    const data = 'a' in record ? Buffer.from(record.a.split('.').map(Number)) : encodeName(record.cname)
    const head = Buffer.alloc(10)
    head.writeUInt16BE('a' in record ? TYPE_A : TYPE_CNAME, 0)
    head.writeUInt16BE(CLASS_IN, 2)
    head.writeUInt16BE(data.length, 8)
    const answer = Buffer.concat([encodeName(owner), head, data])
    if ('cname' in record) owner = record.cname
    return answer
  })
  return Buffer.concat([reply, ...answers])
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ])
