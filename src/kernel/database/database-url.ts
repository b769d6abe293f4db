/** Parses database URLs, which may name several servers, as libpq reads them. */

export interface DatabaseUrl {
  /** One URL per host, in the given order; a URL with one host unchanged. */
  readonly urls: readonly string[]
  readonly hosts: readonly string[]
  /** Whether a new connection is checked for accepting writes. */
  readonly needs_writable: boolean
}

const WRITABLE = new Set(['read-write', 'primary'])

/** Throws a message that contains nothing of the URL but host names. */
export function parseDatabaseUrl(url: string): DatabaseUrl {
  const [, scheme, authority = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*)([^?#]*)(?:\?([^#]*))?/.exec(url) ?? []
  if (scheme === undefined) throw new Error('it must start with postgres:// or postgresql://')
  const parameters = new URLSearchParams(query)
  const target = parameters.get('target_session_attrs')
  if (target !== null && target !== 'any' && !WRITABLE.has(target))
    throw new Error(
      `target_session_attrs=${target} cannot be used: Probity needs a server that takes writes (read-write)`,
    )
  const at = authority.lastIndexOf('@') + 1
  const userinfo = authority.slice(0, at)
  const servers = listServers(authority.slice(at), parameters)
  const hosts = servers.map(({ host, port }) => `${host || 'localhost'}${port ? `:${port}` : ''}`)
  for (const name of ['target_session_attrs', 'host', 'port']) parameters.delete(name)
  if (servers.length === 1) {
    const plain = url.replace(/([?&])target_session_attrs=[^&#]*(&?)/, (_, before, after) => (after ? before : ''))
    return { urls: [plain], hosts, needs_writable: target !== null && WRITABLE.has(target) }
  }
  const urls = servers.map(({ host, port }) => {
    const own = new URLSearchParams({ host, ...(port && { port }), ...Object.fromEntries(parameters) })
    return `${scheme}${userinfo || '@'}${path || '/'}?${own}`
  })
  return { urls, hosts, needs_writable: true }
}

interface Server {
  readonly host: string
  readonly port: string
}

function listServers(authority: string, parameters: URLSearchParams): Server[] {
  const given = parameters.get('host')
  const ports = parameters.get('port')?.split(',')
  const servers =
    given === null
      ? authority.split(',').map(parseServer)
      : given.split(',').map((host) => ({ host, port: authority.includes(',') ? '' : parseServer(authority).port }))
  if (ports && ports.length !== 1 && ports.length !== servers.length)
    throw new Error(`it names ${servers.length} hosts and ${ports.length} ports`)
  const all = servers.map(({ host, port }, index) => ({ host, port: ports?.[index] ?? ports?.[0] ?? port }))
  for (const { host, port } of all) {
    if (all.length > 1 && host === '') throw new Error('one of its hosts is empty')
    if (!/^\d{0,5}$/.test(port) || Number(port) > 65_535) throw new Error(`the port of host ${host} is not a number`)
  }
  return all
}

function parseServer(text: string): Server {
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*):?(.*)$/.exec(text) ?? []
  return { host: decodeURIComponent(host.replace(/^\[(.*)\]$/, '$1')), port }
}
