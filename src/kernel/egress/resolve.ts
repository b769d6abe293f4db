/**
 * Finds the addresses of a name. The resolver of the system knows the names of the operator's network, but holds one of the few threads
 * that Node also needs for files and compression until it is done; names of manifests are asked for over the network instead, so that a
 * name server that never answers delays nobody else.
 */
import dns from 'node:dns/promises'
import type { AddressRule } from './targets.ts'

export type ResolveName = (name: string, rule: AddressRule) => Promise<readonly string[]>

const QUERY_TIMEOUT_MS = 2000
const QUERY_TRIES = 2

/** `servers` are those of the system unless given. */
export function createResolver(servers?: readonly string[]): ResolveName {
  let resolver: dns.Resolver | undefined
  const getResolver = () => {
    resolver ??= new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES })
    if (servers) resolver.setServers(servers)
    return resolver
  }
  return (name, rule) => (rule === 'public' ? queryName(getResolver(), name) : lookUpName(name))
}

async function queryName(resolver: dns.Resolver, name: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

const lookUpName = async (name: string): Promise<readonly string[]> =>
  (await dns.lookup(name, { all: true, verbatim: true })).map(({ address }) => address)
