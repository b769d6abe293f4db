/** Classifies IP addresses by whether an outbound request may be sent to them. */
import { isIP } from 'node:net'
import os from 'node:os'
import ipaddr from 'ipaddr.js'

/**
 * `public`: any request. `private`: only for hosts that the operator lists. `forbidden`: no request of a manifest, ever: link-local,
 * multicast, reserved, tunnels into IPv4, and addresses at which clouds answer with credentials.
 */
export type AddressClass = 'public' | 'private' | 'forbidden'

/** Metadata services outside the link-local range: Azure, Alibaba, AWS and Google over IPv6. */
const metadataAddresses = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])
const privateRanges = new Set(['private', 'loopback', 'carrierGradeNat', 'uniqueLocal'])
/** Deprecated, and read by the library as if ::ffff: were before it. */
const IPV4_COMPATIBLE = /^::\d+\.\d+\.\d+\.\d+$/
/** 2000::/3. Everything else is reserved, whether or not it has a range of its own. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

export function classifyAddress(text: string): AddressClass {
  if (isIP(text) === 0 || IPV4_COMPATIBLE.test(text)) return 'forbidden'
  const address = ipaddr.parse(text)
  if (metadataAddresses.has(address.toString())) return 'forbidden'
  const range = address.range()
  if (privateRanges.has(range)) return 'private'
  if (address instanceof ipaddr.IPv6) return classifyIpv6(address, range)
  return range === 'unicast' ? 'public' : 'forbidden'
}

function classifyIpv6(address: ipaddr.IPv6, range: string): AddressClass {
  const bytes = address.toByteArray()
  const embedded = bytes.slice(12).join('.')
  if (range === 'ipv4Mapped') return classifyAddress(embedded)
  // 64:ff9b::/96 is how an IPv6-only network reaches IPv4; 64:ff9b:1::/48 is for local use.
  if (range === 'rfc6052') return bytes[5] === 0 ? classifyAddress(embedded) : 'forbidden'
  return range === 'unicast' && address.match(globalUnicast) ? 'public' : 'forbidden'
}

/** Whether the address belongs to this machine, so that a request to it crosses no network. */
export function isLocalAddress(text: string): boolean {
  if (isIP(text) === 0) return false
  if (ipaddr.process(text).range() === 'loopback') return true
  const own = Object.values(os.networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return own.some(({ address }) => isSameAddress(address, text))
}

export function isSameAddress(one: string, other: string): boolean {
  if (isIP(one) === 0 || isIP(other) === 0) return false
  return ipaddr.process(one).toNormalizedString() === ipaddr.process(other).toNormalizedString()
}
