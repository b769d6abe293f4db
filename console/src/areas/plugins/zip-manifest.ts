/** Reads plugin.json of a zip file, so that a form can say which plugin it is about. The server reads and checks the archive itself. */
const MANIFEST = /^(?:[^/]+\/)?plugin\.json$/
const END_RECORD = 0x06054b50
const FILE_RECORD = 0x02014b50
const STORED = 0
const DEFLATED = 8
/** A manifest is part of a package of at most 256 KiB. */
const MAX_MANIFEST_BYTES = 256 * 1024

type Manifest = Readonly<Record<string, unknown>>

/** Null where there is none that can be read. */
export async function readZipManifest(bytes: Uint8Array<ArrayBuffer>): Promise<Manifest | null> {
  try {
    const content = await readManifestBytes(bytes)
    const manifest: unknown = content && JSON.parse(new TextDecoder().decode(content))
    return typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest) ? (manifest as Manifest) : null
  } catch {
    return null
  }
}

async function readManifestBytes(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array | null> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = findEndRecord(view)
  if (end === null) return null
  let at = view.getUint32(end + 16, true)
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (view.getUint32(at, true) !== FILE_RECORD) return null
    const name_length = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name_length))
    if (MANIFEST.test(name)) {
      const local = view.getUint32(at + 42, true)
      const from = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
      const packed = bytes.subarray(from, from + view.getUint32(at + 20, true))
      return unpack(packed, view.getUint16(at + 10, true))
    }
    at += 46 + name_length + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return null
}

/** It is the last record, before a comment of any length. */
function findEndRecord(view: DataView): number | null {
  for (let at = view.byteLength - 22; at >= 0; at--) if (view.getUint32(at, true) === END_RECORD) return at
  return null
}

async function unpack(packed: Uint8Array<ArrayBuffer>, method: number): Promise<Uint8Array | null> {
  if (method === STORED) return packed
  if (method !== DEFLATED) return null
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  const parts: BlobPart[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer())
    size += value.byteLength
    if (size > MAX_MANIFEST_BYTES) {
      await reader.cancel()
      return null
    }
    parts.push(value)
  }
}
