/** X.509 certificates for tests of TLS, encoded here: Node.js can read certificates, not make them. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import net from 'node:net'

export interface Certificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

export interface CertificateRequest {
  readonly common_name: string
  /** Names and addresses that the certificate is for. */
  readonly names?: readonly string[]
  /** Signs with its own key unless given. */
  readonly issuer?: Certificate & { readonly common_name: string }
  readonly is_authority?: boolean
  readonly valid_from?: Date
  readonly valid_until?: Date
}

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'
const COMMON_NAME = '2.5.4.3'
const BASIC_CONSTRAINTS = '2.5.29.19'
const ALTERNATIVE_NAMES = '2.5.29.17'
const DAY_MS = 86_400_000

export function createCertificate(request: CertificateRequest): Certificate & { readonly common_name: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256))
  const content = sequence(
    encode(0xa0, encode(0x02, Buffer.from([2]))),
    encode(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name(request.issuer?.common_name ?? request.common_name),
    sequence(
      time(request.valid_from ?? new Date(Date.now() - DAY_MS)),
      time(request.valid_until ?? new Date(Date.now() + DAY_MS)),
    ),
    name(request.common_name),
    createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })).export({ type: 'spki', format: 'der' }),
    encode(0xa3, sequence(...listExtensions(request))),
  )
  const key: KeyObject | string = request.issuer?.key ?? privateKey
  const signature = sign('sha256', content, key)
  const certificate = sequence(content, algorithm, encode(0x03, Buffer.concat([Buffer.from([0]), signature])))
  return {
    common_name: request.common_name,
    cert: toPem(certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function listExtensions({ names = [], is_authority = false }: CertificateRequest): Buffer[] {
  const isCritical = encode(0x01, Buffer.from([0xff]))
  const constraints = sequence(...(is_authority ? [encode(0x01, Buffer.from([0xff]))] : []))
  return [
    sequence(objectId(BASIC_CONSTRAINTS), isCritical, encode(0x04, constraints)),
    ...(names.length > 0
      ? [sequence(objectId(ALTERNATIVE_NAMES), encode(0x04, sequence(...names.map(alternativeName))))]
      : []),
  ]
}

function alternativeName(text: string): Buffer {
  if (net.isIPv4(text)) return encode(0x87, Buffer.from(text.split('.').map(Number)))
  if (net.isIPv6(text)) return encode(0x87, Buffer.from(text === '::1' ? [...Array(15).fill(0), 1] : []))
  return encode(0x82, Buffer.from(text, 'ascii'))
}

function encode(tag: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...bytes]), content])
}

const sequence = (...parts: readonly Buffer[]): Buffer => encode(0x30, Buffer.concat(parts))

function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const encodeNumber = (value: number): number[] => {
    const low = value & 0x7f
    const groups = [low]
    for (let left = value >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80)
    return groups
  }
  return encode(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(encodeNumber)]))
}

const name = (common_name: string): Buffer =>
  sequence(encode(0x31, sequence(objectId(COMMON_NAME), encode(0x0c, Buffer.from(common_name)))))

const time = (instant: Date): Buffer =>
  encode(0x18, Buffer.from(`${instant.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`))

const toPem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`
