/** A publisher signs the content hash; the operator lists the publishers' keys. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { hashContent, type PluginPackage, type PluginSignature } from './package.ts'
import type { Reason } from './reasons.ts'

export interface Publisher {
  readonly name: string
  /** PEM, or the 32 bytes of the Ed25519 key in Base64. */
  readonly public_key: string
}

/** Null when the signature is valid, or absent and not required. A signature of an unknown publisher is invalid. */
export function checkSignature(
  plugin: PluginPackage,
  publishers: readonly Publisher[],
  isRequired: boolean,
): Reason | null {
  const { signature } = plugin
  if (signature === null) {
    return isRequired ? invalid('The plugin is not signed, and this installation requires a signature.') : null
  }
  const publisher = publishers.find(({ name }) => name === signature.publisher)
  if (!publisher) {
    return invalid(`The publisher ${signature.publisher.slice(0, 100)} is not known to this installation.`)
  }
  const bytes = Buffer.from(signature.signature, 'base64')
  const isCorrect = verify(null, Buffer.from(hashContent(plugin), 'hex'), readPublicKey(publisher.public_key), bytes)
  return isCorrect ? null : invalid(`The signature is not that of ${publisher.name} over this content.`)
}

const invalid = (message: string): Reason => ({ code: 'signature_invalid', message })

/** DER header of an Ed25519 public key. */
const ED25519_HEADER = Buffer.from('302a300506032b6570032100', 'hex')

/** Throws a TypeError when the text is no Ed25519 key. */
export function readPublicKey(text: string): KeyObject {
  const key = text.includes('-----BEGIN')
    ? createPublicKey(text)
    : createPublicKey({
        key: Buffer.concat([ED25519_HEADER, Buffer.from(text, 'base64')]),
        format: 'der',
        type: 'spki',
      })
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('The key of a publisher must be an Ed25519 key')
  return key
}

export function signPackage(
  plugin: Pick<PluginPackage, 'manifest' | 'source'>,
  publisher: string,
  private_key_pem: string,
): PluginSignature {
  const key = createPrivateKey(private_key_pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('The key of a publisher must be an Ed25519 key')
  return { publisher, signature: sign(null, Buffer.from(hashContent(plugin), 'hex'), key).toString('base64') }
}
