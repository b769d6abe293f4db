/** Parses the settings of outbound requests: which hosts, which private ones, and through which proxy. */
import { X509Certificate } from 'node:crypto'
import fs from 'node:fs'
import { isIP } from 'node:net'
import { classifyAddress } from '#kernel/egress/addresses.ts'
import type { EgressProxy, EgressSettings, PrivateHost } from '#kernel/egress/settings.ts'

/** The values of the variables, as the process was given them. */
export interface EgressVariables {
  readonly hosts: string | undefined
  readonly private_hosts: string | undefined
  readonly proxy: string | undefined
  readonly exempt: string | undefined
}

const HOST_NAME = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
const MAX_SHOWN_CHARS = 100

export function readEgressSettings(given: EgressVariables, production: boolean, faults: string[]): EgressSettings {
  const hosts = readHosts(given.hosts, faults)
  const proxy = readProxy(given.proxy, faults)
  if (proxy && hosts === null) {
    faults.push(
      'PROBITY_EGRESS_PROXY is set, but PROBITY_EGRESS_HOSTS is not: the proxy resolves names, so addresses cannot be checked here. ' +
        'List the hosts that providers may be reached at.',
    )
  }
  return {
    hosts,
    private_hosts: readPrivateHosts(given.private_hosts, faults),
    proxy,
    exempt: readExempt(given.exempt, production, faults),
  }
}

function readHosts(text: string | undefined, faults: string[]): readonly string[] | null {
  if (text === undefined) return null
  const hosts = splitList(text).map((host) => host.toLowerCase())
  for (const host of hosts) {
    if (!isHost(host.replace(/^\*\./, ''))) {
      faults.push(
        `PROBITY_EGRESS_HOSTS: ${show(host)} is not a name such as api.example.com, or *.example.com for all names below it.`,
      )
    }
  }
  return hosts
}

function readPrivateHosts(text: string | undefined, faults: string[]): readonly PrivateHost[] {
  return splitList(text).flatMap((entry) => {
    const [, host = '', port = '', file] = /^([^=]*?):(\d{1,5})(?:=(.+))?$/.exec(entry) ?? []
    const name = host.replace(/^\[|\]$/g, '').toLowerCase()
    if (!isHost(name) || !isPort(port)) {
      faults.push(
        `PROBITY_EGRESS_PRIVATE: ${show(entry)} is not name:port or name:port=file with certificates, such as registry.internal:8443=/etc/probity/ca.pem.`,
      )
      return []
    }
    if (isIP(name) !== 0 && classifyAddress(name) === 'forbidden') {
      faults.push(
        `PROBITY_EGRESS_PRIVATE: ${show(entry)} has an address that no request may be sent to: link-local, multicast, reserved, or one at which clouds answer with credentials.`,
      )
      return []
    }
    return [{ name, port: Number(port), ca: file === undefined ? null : readCertificates(file, faults) }]
  })
}

function readCertificates(file: string, faults: string[]): string | null {
  try {
    const text = fs.readFileSync(file, 'utf8')
    const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
    if (certificates.length === 0) throw new Error('holds no certificate in PEM format')
    for (const certificate of certificates) new X509Certificate(certificate)
    return text
  } catch (error) {
    faults.push(`PROBITY_EGRESS_PRIVATE (${show(file)}): ${(error as Error).message}`)
    return null
  }
}

/** A message never shows the URL: it may hold a password. */
function readProxy(text: string | undefined, faults: string[]): EgressProxy | null {
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash
  if (!isOrigin || url.hostname === '') {
    faults.push('PROBITY_EGRESS_PROXY must be a URL such as http://user:password@proxy.internal:3128.')
    return null
  }
  const secure = url.protocol === 'https:'
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    secure,
    authorization: url.username === '' ? null : `Basic ${Buffer.from(user).toString('base64')}`,
  }
}

function readExempt(text: string | undefined, production: boolean, faults: string[]): EgressSettings['exempt'] {
  if (text === undefined) return null
  if (production) {
    faults.push(
      'PROBITY_EGRESS_EXEMPT is set with NODE_ENV=production: it lets every tenant send requests to that address, and is for tests only. ' +
        'List private hosts in PROBITY_EGRESS_PRIVATE instead.',
    )
    return null
  }
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  const address = host.replace(/^\[|\]$/g, '')
  if (isIP(address) === 0 || !isPort(port)) {
    faults.push('PROBITY_EGRESS_EXEMPT must be one address and port, such as 127.0.0.1:18443.')
    return null
  }
  return { address, port: Number(port) }
}

const isHost = (text: string): boolean => isIP(text) !== 0 || HOST_NAME.test(text)
const isPort = (text: string): boolean => Number(text) >= 1 && Number(text) <= 65_535
const show = (text: string): string => text.slice(0, MAX_SHOWN_CHARS)

const splitList = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
