/** Parses the settings of plugins: hosts they may name, publishers whose signatures count, and the operator's folder. */
import { createPublicKey } from 'node:crypto'
import fs from 'node:fs'
import type { PluginPolicy } from '#kernel/plugin-policy.ts'

/** The values of the variables, as the process was given them. */
export interface PluginVariables {
  readonly hosts: string | undefined
  readonly publishers: string | undefined
  readonly requires_signature: boolean
  readonly folder: string | undefined
}

export interface PluginSettings {
  readonly policy: PluginPolicy
  /** Folder with packages that are seeded for all tenants. */
  readonly folder: string | null
}

const HOST_NAME = /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const PUBLISHER = /^([A-Za-z0-9][A-Za-z0-9._-]{0,62})=([A-Za-z0-9+/]{43}=)$/
const MAX_SHOWN_CHARS = 100

const splitList = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

export function readPluginSettings(given: PluginVariables, faults: string[]): PluginSettings {
  const publishers = readPublishers(given.publishers, faults)
  if (given.requires_signature && publishers.size === 0) {
    faults.push('PROBITY_PLUGIN_REQUIRE_SIGNED is on, but PROBITY_PLUGIN_PUBLISHERS names no publisher.')
  }
  if (given.folder !== undefined && !fs.statSync(given.folder, { throwIfNoEntry: false })?.isDirectory()) {
    faults.push(`PROBITY_PLUGINS_DIR (${given.folder.slice(0, MAX_SHOWN_CHARS)}) is not a folder.`)
  }
  return {
    policy: {
      hosts: readHosts(given.hosts, faults),
      publishers,
      requires_signature: given.requires_signature,
    },
    folder: given.folder ?? null,
  }
}

function readHosts(text: string | undefined, faults: string[]): readonly string[] {
  const hosts = splitList(text).map((host) => host.toLowerCase())
  for (const host of hosts) {
    if (HOST_NAME.test(host)) continue
    faults.push(
      `PROBITY_PLUGIN_HOSTS: ${host.slice(0, MAX_SHOWN_CHARS)} is not a name such as api.example.com, or *.example.com for all names below it.`,
    )
  }
  return hosts
}

/** The 32 bytes of an Ed25519 public key in DER begin with this. */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

function readPublishers(text: string | undefined, faults: string[]): ReadonlyMap<string, string> {
  const publishers = new Map<string, string>()
  for (const entry of splitList(text)) {
    const [, name, key] = PUBLISHER.exec(entry) ?? []
    try {
      if (name === undefined || key === undefined) throw new Error('not a publisher')
      createPublicKey({ key: Buffer.concat([ED25519_PREFIX, Buffer.from(key, 'base64')]), format: 'der', type: 'spki' })
      publishers.set(name, key)
    } catch {
      faults.push(
        `PROBITY_PLUGIN_PUBLISHERS: ${entry.slice(0, MAX_SHOWN_CHARS)} is not name=key with the 32 bytes of an Ed25519 public key in base64.`,
      )
    }
  }
  return publishers
}
