/**
 * Test support: a corpus of forged and broken tokens, each a good token changed in the one way its name tells. Every
 * token can be sent in a header; none may ever be accepted.
 */
import * as crypto from 'node:crypto'
import { CompactEncrypt } from 'jose'
import {
  base64url,
  builtInForge,
  type ExternalIssuer,
  ecdsa,
  externalForge,
  type Forge,
  type ForgeryContext,
  flipCase,
  hmac,
  type Members,
  type NamedToken,
  OTHER_UUID,
  privateKey,
  rsa,
  rsaPss,
  type Signer,
  signToken,
  type TokenChange,
  withSpareBit,
} from './token-forge.ts'

const SYSTEM_UUID = '00000000-0000-0000-0000-000000000000'
const NO_TEXT = [undefined, null, '', 1, true, {}]

export async function forgedTokens(context: ForgeryContext): Promise<{ name: string; token: string }[]> {
  const forge = builtInForge(context)
  const attacker = {
    p256: crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    p384: crypto.generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
    rsa: crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    ed25519: crypto.generateKeyPairSync('ed25519').privateKey,
  }
  const entries = [
    ...envelopes(forge),
    ...(await serialisations(forge, context)),
    ...noneAlgorithms(forge),
    ...algorithms(forge, context, attacker),
    ...signatures(forge, context, attacker),
    ...headers(forge, context, attacker),
    ...documents(forge),
    ...times(forge, context),
    ...identities(forge, context),
    ...tenantAndRoleClaims(forge, context),
    ...(context.external ? externals(forge, context, context.external) : []),
  ]
  return entries.map(([name, token]) => ({ name, token }))
}

function envelopes(forge: Forge): NamedToken[] {
  const good = forge.token()
  const [h = '', p = '', s = ''] = good.split('.')
  // Some signatures have neither character, and then the other alphabet would spell the same token.
  let mixed = good
  for (let n = 0; !/[-_][^.]*$/.test(mixed); n += 1) mixed = forge.token({ claims: { n } })
  // White space brings the payload to a length whose last character has bits to spare.
  let loose = JSON.stringify(forge.claims)
  while (loose.length % 3 !== 1) loose += ' '
  return [
    ['a single word', 'token'],
    ['only dots', '..'],
    ['no signature segment', `${h}.${p}`],
    ['empty signature', `${h}.${p}.`],
    ['empty payload', `${h}..${s}`],
    ['empty header', `.${p}.${s}`],
    ['four segments', `${good}.${s}`],
    ['five segments', `${good}.${p}.${s}`],
    ['trailing dot', `${good}.`],
    ['leading dot', `.${good}`],
    ['header and payload exchanged', signToken(`${p}.${h}`, forge.genuine)],
    ['padded signature', `${good}==`],
    ['padded payload', signToken(`${h}.${base64url(loose)}==`, forge.genuine)],
    ['standard alphabet in signature', mixed.replace(/[^.]*$/, (x) => x.replaceAll('-', '+').replaceAll('_', '/'))],
    ['space in signature', `${h}.${p}.${s.slice(0, 40)} ${s.slice(40)}`],
    ['tab in payload', `${h}.${p.slice(0, 40)}\t${p.slice(40)}.${s}`],
    ['space after dot', `${h}. ${p}.${s}`],
    ['percent-encoded dots', `${h}%2E${p}%2E${s}`],
    ['left-over bits in signature', `${h}.${p}.${withSpareBit(s)}`],
    ['left-over bits in payload', signToken(`${h}.${withSpareBit(base64url(loose))}`, forge.genuine)],
    ['signature one character short', good.slice(0, -1)],
    ['signature one character long', `${good}A`],
    ['scheme inside the token', `Bearer ${good}`],
    ['two tokens, comma', `${good},${good}`],
    ['two tokens, space', `${good} ${good}`],
    ['quoted token', `"${good}"`],
    ['upper-case token', good.toUpperCase()],
    ['9 KiB token', forge.token({ claims: { filler: 'x'.repeat(6500) } })],
  ]
}

async function serialisations(forge: Forge, { key }: ForgeryContext): Promise<NamedToken[]> {
  const good = forge.token()
  const [protected_, payload, signature] = good.split('.')
  const flattened = JSON.stringify({ protected: protected_, payload, signature })
  const general = JSON.stringify({ payload, signatures: [{ protected: protected_, signature }] })
  const encrypted = (plaintext: string, cty: string) =>
    new CompactEncrypt(Buffer.from(plaintext))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', cty })
      .encrypt(crypto.createPublicKey(privateKey(key)))
  return [
    ['flattened JSON serialisation', flattened],
    ['general JSON serialisation', general],
    ['flattened serialisation in base64url', base64url(flattened)],
    ['encrypted claims', await encrypted(JSON.stringify(forge.claims), 'json')],
    ['encrypted good token', await encrypted(good, 'JWT')],
    ['nested token', forge.token({ header: { cty: 'JWT' }, payload_text: good })],
    ['nested token as a JSON string', forge.token({ payload_text: JSON.stringify(good) })],
  ]
}

function noneAlgorithms(forge: Forge): NamedToken[] {
  const capitalisations = Array.from({ length: 16 }, (_, bits) =>
    [...'none'].map((letter, at) => ((bits >> at) & 1 ? letter.toUpperCase() : letter)).join(''),
  )
  return capitalisations.flatMap((alg): NamedToken[] => {
    const token = forge.token({ header: { alg } })
    return [
      [`alg ${alg}, signature kept`, token],
      [`alg ${alg}, signature empty`, token.replace(/[^.]*$/, '')],
    ]
  })
}

type AttackerKeys = Readonly<Record<'p256' | 'p384' | 'rsa' | 'ed25519', crypto.KeyObject>>

function algorithms(forge: Forge, { key }: ForgeryContext, attacker: AttackerKeys): NamedToken[] {
  const { x = '', y = '' } = key.public_jwk
  const public_key = crypto.createPublicKey(privateKey(key))
  const pem = public_key.export({ type: 'spki', format: 'pem' }).toString()
  const secrets = {
    PEM: pem,
    'PEM without its last newline': pem.trim(),
    DER: public_key.export({ type: 'spki', format: 'der' }),
    'JWK text': JSON.stringify(key.public_jwk),
    'JWKS text': JSON.stringify({ keys: [key.public_jwk] }),
    'raw point': Buffer.concat([Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]),
    nothing: '',
  }
  const as = (alg: string, sign: Signer) => forge.token({ header: { alg }, sign })
  return [
    ...Object.entries(secrets).map(
      ([name, s]): NamedToken => [`HS256 keyed with ${name}`, as('HS256', hmac('sha256', s))],
    ),
    ['HS384 keyed with PEM', as('HS384', hmac('sha384', pem))],
    ['HS512 keyed with PEM', as('HS512', hmac('sha512', pem))],
    ...forge.badHeader('alg', 'RS256', 'PS256', 'ES384', 'ES512', 'ES256K', 'EdDSA', 'Ed25519', 'es256', 'ES256 '),
    ...forge.badHeader('alg', ...NO_TEXT, ['ES256'], 'SHA256withECDSA', 'dir'),
    ["RS256 by an attacker's key", as('RS256', rsa(attacker.rsa))],
    ["PS256 by an attacker's key", as('PS256', rsaPss(attacker.rsa))],
    ["EdDSA by an attacker's key", as('EdDSA', (input) => crypto.sign(null, Buffer.from(input), attacker.ed25519))],
    ["ES384 by an attacker's key", as('ES384', ecdsa(attacker.p384, 'sha384'))],
    ['ES384 by the genuine key', as('ES384', ecdsa(privateKey(key), 'sha384'))],
    ["ES256 by an attacker's P-384 key", as('ES256', ecdsa(attacker.p384))],
    ["ES256 by an attacker's RSA key", as('ES256', rsa(attacker.rsa))],
    ["ES256 by a key that is not published, under the genuine key's name", as('ES256', ecdsa(attacker.p256))],
  ]
}

function signatures(forge: Forge, { key, role, now_s }: ForgeryContext, { p256 }: AttackerKeys): NamedToken[] {
  const { genuine } = forge
  const own = privateKey(key)
  const group_order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex')
  const [zero, one] = [Buffer.alloc(32), Buffer.alloc(32).fill(1, 31)]
  const remade = (change: (r: Buffer, s: Buffer) => Buffer[]): string => {
    const sign: Signer = (input) => {
      const bytes = genuine(input)
      return Buffer.concat(change(bytes.subarray(0, 32), bytes.subarray(32)))
    }
    return forge.token({ sign })
  }
  const good_signature = forge.token().replace(/^.*\./, '')
  const altered = (change: TokenChange) => forge.token(change).replace(/[^.]*$/, good_signature)
  return [
    ['all-zero signature', remade(() => [zero, zero])],
    ['r zero', remade((_r, s) => [zero, s])],
    ['s zero', remade((r) => [r, zero])],
    ['r the group order', remade((_r, s) => [group_order, s])],
    ['s the group order', remade((r) => [r, group_order])],
    ['r and s one', remade(() => [one, one])],
    ['all bits set', remade(() => [Buffer.alloc(64, 0xff)])],
    ['r and s exchanged', remade((r, s) => [s, r])],
    ['signature one byte short', remade((r, s) => [r, s.subarray(0, 31)])],
    ['signature one byte long', remade((r, s) => [r, s, Buffer.alloc(1)])],
    ['signature widened with zeros', remade((r, s) => [Buffer.alloc(1), r, Buffer.alloc(1), s])],
    ['signature doubled', remade((r, s) => [r, s, r, s])],
    ['DER signature', forge.token({ sign: (input) => crypto.sign('sha256', Buffer.from(input), own) })],
    ['signature over SHA-1', forge.token({ sign: ecdsa(own, 'sha1') })],
    ['signature over SHA-512', forge.token({ sign: ecdsa(own, 'sha512') })],
    ['signature over the payload alone', forge.token({ sign: (input) => genuine(input.replace(/^.*\./, '')) })],
    ['tenant changed after signing', altered({ claims: { tenant_id: OTHER_UUID } })],
    ['roles changed after signing', altered({ claims: { roles: [role, role] } })],
    ['expiry changed after signing', altered({ claims: { exp: now_s + 1800 } })],
    ['header changed after signing', altered({ header: { typ: 'at+jwt' } })],
    ['removed key', forge.token({ header: { kid: 'removed' }, sign: ecdsa(p256) })],
  ]
}

function headers(forge: Forge, { key: { kid } }: ForgeryContext, { p256 }: AttackerKeys): NamedToken[] {
  const public_key = crypto.createPublicKey(p256)
  const embedded = {
    jwk: { ...public_key.export({ format: 'jwk' }), kid: 'mine', alg: 'ES256', use: 'sig' },
    jku: 'https://attacker.example/jwks.json',
    x5u: 'https://attacker.example/key.pem',
    x5c: [public_key.export({ type: 'spki', format: 'der' }).toString('base64')],
  }
  return [
    ...Object.entries(embedded).flatMap(([name, value]) =>
      [kid, 'mine', undefined].map((named): NamedToken => {
        const header = { [name]: value, kid: named }
        return [`attacker's ${name}, kid ${named ?? 'missing'}`, forge.token({ header, sign: ecdsa(p256) })]
      }),
    ),
    ...forge.badHeader('kid', null, '', 1, 0, true, {}, [kid], 'unknown', flipCase(kid), kid.slice(0, -1)),
    ...forge.badHeader('kid', '../../../../dev/null', "x' UNION SELECT 'key", '| whoami', 'https://attacker.example/k'),
    ...forge.badHeader('kid', `${kid}\0`, `${kid}\n`, '__proto__', 'k'.repeat(256)),
    ...forge.badHeader('crit', [], ['exp'], ['alg'], ['b64'], ['unknown'], [''], 'exp', null, {}, false),
    ...forge.badHeader('b64', false, 0, 'false'),
    ['header b64 false, named critical', forge.token({ header: { b64: false, crit: ['b64'] } })],
    ...forge.badHeader('typ', 'JOSE', 'JOSE+JSON', 'JWE', 'dpop+jwt', 'secevent+jwt', 'JWT ', '', 1, null, ['JWT']),
    ...forge.badHeader('cty', 'JWT'),
    ...forge.badHeader('zip', 'DEF'),
    ...forge.badHeader('enc', 'A256GCM'),
  ]
}

function documents(forge: Forge): NamedToken[] {
  const also = (json: string, members: string) => json.replace(/}$/, `,${members}}`)
  const spoilt: Record<string, (json: string) => string | Buffer> = {
    'a byte order mark': (json) => `\uFEFF${json}`,
    'invalid UTF-8': (json) => Buffer.from(also(json, '"x":"\u00ff"'), 'latin1'),
    'UTF-16': (json) => Buffer.from(json, 'utf16le'),
    'a comma too many': (json) => json.replace(/}$/, ',}'),
    'text after it': (json) => `${json}x`,
    'NUL after it': (json) => `${json}\0`,
    'a comment': (json) => `/**/${json}`,
    'a list around it': (json) => `[${json}]`,
    'quotes around it': (json) => JSON.stringify(json),
    'its end missing': (json) => json.slice(0, -1),
    'null in its place': () => 'null',
    'a repeated key within': (json) => also(json, '"x":[{"y":1,"y":2}]'),
    'a repeated last key': (json) => also(json, json.slice(json.lastIndexOf(',') + 1, -1)),
    'a repeated first key': (json) => json.replace(/^{("[^,]*,)/, '{$1$1'),
  }
  const header = JSON.stringify(forge.header)
  const payload = JSON.stringify(forge.claims)
  const id = forge.claims['tenant_id']
  return [
    ...Object.entries(spoilt).flatMap(([name, spoil]): NamedToken[] => [
      [`header with ${name}`, forge.token({ header_text: spoil(header) })],
      [`payload with ${name}`, forge.token({ payload_text: spoil(payload) })],
    ]),
    ['header with two algorithms', forge.token({ header_text: header.replace('{', '{"alg":"none",') })],
    ['payload with two tenants', forge.token({ payload_text: payload.replace('{', `{"tenant_id":"${OTHER_UUID}",`) })],
    ['payload with two tenants, escaped', forge.token({ payload_text: also(payload, `"tenant\\u005fid":"${id}"`) })],
    ['payload with two tenants, spaced', forge.token({ payload_text: also(payload, `"tenant_id" \n: "${id}"`) })],
  ]
}

function times(forge: Forge, { now_s }: ForgeryContext): NamedToken[] {
  const literal = (name: string, text: string): NamedToken => {
    const payload_text = JSON.stringify({ ...forge.claims, [name]: '@' }).replace('"@"', text)
    return [`claim ${name} ${text}`, forge.token({ payload_text })]
  }
  const at = (iat: number, exp: number, more: Members = {}) => forge.token({ claims: { iat, exp, ...more } })
  return [
    ...Object.entries({ iat: now_s, exp: now_s + 900, nbf: now_s }).flatMap(([name, good]) => [
      ...forge.badClaim(name, null, `${good}`, true, [good], { good }, -good, good + 0.5, 2 ** 53),
      literal(name, '1e400'),
      literal(name, 'NaN'),
    ]),
    ...forge.badClaim('iat', undefined),
    ...forge.badClaim('exp', undefined),
    ['expired', at(now_s - 1000, now_s - 100)],
    ['expired years ago', at(1_000_000_000, 1_000_000_900)],
    ['not valid yet', at(now_s, now_s + 900, { nbf: now_s + 300 })],
    ['issued in the future', at(now_s + 300, now_s + 900)],
    ['times in milliseconds', at(now_s * 1000, now_s * 1000 + 900)],
    ['expires before it was issued', at(now_s + 20, now_s + 10)],
    ['lives for no time', at(now_s, now_s)],
    ['lives a second more than 24 h', at(now_s, now_s + 86_401)],
    ['lives a year', at(now_s, now_s + 31_536_000)],
  ]
}

function identities({ badClaim }: Forge, { issuer, audience, subject }: ForgeryContext): NamedToken[] {
  const id = subject.replace(/^\w+:/, '')
  return [
    ...badClaim('iss', ...NO_TEXT, [issuer], flipCase(issuer), `${issuer}/`, `${issuer} `, 'https://attacker.example'),
    ...badClaim('aud', ...NO_TEXT, [], [`${audience}x`], [[audience]], [audience, 1], flipCase(audience)),
    ...badClaim('aud', audience.slice(0, -1), `${audience}x`, `${audience}/`, `${audience} other`),
    ...badClaim('sub', ...NO_TEXT, [subject], id, `root:${id}`, 'user:', 'user:1', subject.toUpperCase()),
    ...badClaim('sub', `${subject}\0`, `${subject}\n`, ` ${subject}`, `user:${subject}`),
    ...badClaim('jti', ...NO_TEXT, ['a'], 'a\0b', 'a\nb', 'a\u001b[2Jb', '\ud800', 'j'.repeat(256)),
  ]
}

function tenantAndRoleClaims(
  { badClaim, claims, token }: Forge,
  { tenant_id: id, role }: ForgeryContext,
): NamedToken[] {
  const no_tenant = { ...claims, tenant_id: undefined }
  const inherited = JSON.stringify(no_tenant).replace('{', `{"__proto__":{"tenant_id":"${id}"},`)
  return [
    ...badClaim('tenant_id', ...NO_TEXT, [id], { id }, '*', SYSTEM_UUID, OTHER_UUID.toUpperCase()),
    ...badClaim('tenant_id', ` ${id}`, `${id} `, `${id}\n`, `${id}\0`, `{${id}}`, `urn:uuid:${id}`, `${id},${id}`),
    ...badClaim('tenant_id', id.slice(1), id.replaceAll('-', ''), `${id}' or '1'='1`, id.replace(/.$/, '\uff11')),
    ['tenant under other names', token({ claims: { ...no_tenant, tenant: id, tid: id, TENANT_ID: id } })],
    ['tenant by prototype', token({ payload_text: inherited })],
    ...badClaim('roles', ...NO_TEXT, role, { 0: role, length: 1 }, ['root'], [role, 'root'], ['constructor']),
    ...badClaim('roles', [[role]], [role, null], [1], [''], [flipCase(role)], [`${role} `], [`${role}\0`]),
    ...badClaim('roles', Array(33).fill(role)),
  ]
}

function externals(own: Forge, context: ForgeryContext, external: ExternalIssuer): NamedToken[] {
  const forge = externalForge(context, external)
  const key = privateKey(external.key)
  const pem = crypto.createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
  // The padding ends early and rubbish follows the digest: a careless check would read only the beginning.
  const badly_padded: Signer = (input) => {
    const digest = crypto.createHash('sha256').update(input).digest()
    const start = Buffer.from('0001ff003031300d060960864801650304020105000420', 'hex')
    const block = Buffer.concat([start, digest, Buffer.alloc(256 - start.length - digest.length, 1)])
    return crypto.privateEncrypt({ key, padding: crypto.constants.RSA_NO_PADDING }, block)
  }
  const weak = { header: { kid: external.weak_key.kid }, sign: rsa(privateKey(external.weak_key)) }
  return [
    ['external: tenant outside its list', forge.token({ claims: { tenant_id: context.tenant_id } })],
    ['external: every tenant', forge.token({ claims: { tenant_id: '*' } })],
    ['external: key below 2048 bits', forge.token(weak)],
    ['external: PS256', forge.token({ header: { alg: 'PS256' }, sign: rsaPss(key) })],
    ['external: RS256 with the padding of PS256', forge.token({ sign: rsaPss(key) })],
    ['external: RS384', forge.token({ header: { alg: 'RS384' }, sign: rsa(key, 'sha384') })],
    ['external: RS256 over SHA-1', forge.token({ sign: rsa(key, 'sha1') })],
    ['external: RS256 badly padded', forge.token({ sign: badly_padded })],
    ['external: RS256 all zero', forge.token({ sign: () => Buffer.alloc(256) })],
    ['external: HS256 keyed with PEM', forge.token({ header: { alg: 'HS256' }, sign: hmac('sha256', pem) })],
    ['external: ES256 under the kid of the RSA key', forge.token({ header: { alg: 'ES256' }, sign: own.genuine })],
    ["external: by the built-in issuer's key", forge.token({ header: own.header, sign: own.genuine })],
    ["built-in: by the external issuer's key", own.token({ header: forge.header, sign: forge.genuine })],
    ['external: audience of another service', forge.token({ claims: { aud: 'https://elsewhere.example' } })],
    ['external: roles as text', forge.token({ claims: { roles: context.role } })],
  ]
}
