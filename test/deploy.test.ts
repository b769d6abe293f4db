/** What is shipped for operations agrees with the program: manifests, image, alerts, dashboard and the documents about them. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { commands } from '../src/app/cli/commands.ts'
import { readConfig } from '../src/app/config.ts'
import { modules } from '../src/app/modules.ts'
import { createRuntime } from '../src/app/runtime.ts'
import { silentLog } from '../src/kernel/log.ts'
import { alarmReasons } from '../src/kernel/metrics.ts'
import { createKeyring } from '../src/kernel/seal.ts'
import { projectRoot, TEST_MASTER_KEY } from './support/database.ts'
import { queryCheck } from './support/metric-queries.ts'
import { roleReachTable } from './support/role-reach.ts'

const read = (file: string): string => fs.readFileSync(path.join(projectRoot, file), 'utf8')
const manifests = fs.readdirSync(path.join(projectRoot, 'deploy/kubernetes')).map((name) => `deploy/kubernetes/${name}`)
const defaults = readConfig({})
const addresses = modules.flatMap(({ routes }) => routes).map(({ method, path: at }) => `${method} /api${at}`)

const paths = addresses.map((at) => at.split(' ')[1] as string)

/** Every variable the program reads, from the one place that reads them. */
const variables = new Set(
  [...read('src/app/config.ts').matchAll(/'((?:[A-Z]+_)*DATABASE_URL|PROBITY_[A-Z_]+|NODE_ENV|PORT|HOST)'/g)].map(
    ([, name]) => name as string,
  ),
)
const namesIn = (text: string): string[] =>
  [...text.matchAll(/\b((?:[A-Z]+_)*DATABASE_URL|PROBITY_[A-Z_]+|NODE_ENV)\b/g)].map(([, name]) => name as string)

// biome-ignore lint/suspicious/noExplicitAny: manifests are read as whatever they are; the tests assert their shape.
type Manifest = any

function parseYaml(file: string): Manifest[] {
  return parseAllDocuments(read(file)).map((document) => {
    expect([...document.errors, ...document.warnings], file).toEqual([])
    return document.toJS()
  })
}

const objects = manifests.flatMap((file) => parseYaml(file).map((object) => ({ file, ...object }) as Manifest))
const ofKind = (kind: string): Manifest[] => objects.filter((object) => object.kind === kind)
const named = (kind: string, name: string): Manifest => ofKind(kind).find((object) => object.metadata.name === name)
const workloads = [...ofKind('Deployment'), ...ofKind('Job')]
const pods = workloads.map(({ spec }) => spec.template)
const containersOf = (pod: Manifest): Manifest[] => [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
const containers = pods.flatMap(containersOf)

describe('settings', () => {
  test('those in manifests, image, examples and documents exist', () => {
    expect(variables.size).toBeGreaterThan(20)
    const files = [
      ...manifests,
      'deploy/Dockerfile',
      'deploy/pgbouncer/pgbouncer.ini',
      'docs/operations.md',
      'docs/security.md',
    ]
    const unknown = files.flatMap((file) =>
      namesIn(read(file))
        .filter((name) => !variables.has(name))
        .map((name) => `${file}: ${name}`),
    )
    expect(unknown).toEqual([])
    const set = containers.flatMap(({ env = [] }) => env.map(({ name }: Manifest) => name))
    const given = [...ofKind('ConfigMap').flatMap(({ data }) => Object.keys(data)), ...set]
    expect(given.filter((name) => !variables.has(name))).toEqual([])
  })

  test('all of them are in the table of docs/operations.md, with their defaults', () => {
    const section = read('docs/operations.md').split('\n## Settings\n')[1]?.split('\n## ')[0] ?? ''
    const rows = [...section.matchAll(/^\| `([A-Z_]+)` \| ([^|]*)\|/gm)]
    expect(rows.map(([, name]) => name as string).sort()).toEqual([...variables].sort())
    for (const [, name = '', stated = ''] of rows) {
      if (!/^\d+ $/.test(stated)) continue
      const key = name.replace(/^PROBITY_/, '').toLowerCase() as keyof typeof defaults
      expect(defaults[key], name).toBe(Number(stated))
    }
  })

  test('the configuration of the manifests is one the program takes', () => {
    const urls = ofKind('Secret').flatMap(({ stringData }) =>
      Object.entries<string>(stringData).filter(([key]) => key.endsWith('_URL')),
    )
    const config = readConfig({ ...named('ConfigMap', 'probity-config').data, ...Object.fromEntries(urls) })
    expect(config).toMatchObject({ production: true, demo: false, metrics_host: '0.0.0.0' })
    expect(config.database_urls).toMatchObject({ app: expect.stringContaining('//app:') })
  })
})

describe('Kubernetes', () => {
  test('there is what there must be', () => {
    const kinds = objects.map(({ kind }) => kind)
    for (const kind of [
      'Deployment',
      'Job',
      'Service',
      'ConfigMap',
      'Secret',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'HorizontalPodAutoscaler',
    ]) {
      expect(kinds).toContain(kind)
    }
    expect(objects.filter(({ metadata }) => metadata?.namespace)).toEqual([])
    const { resources } = ofKind('Kustomization')[0]
    const left = ['kustomization.yaml', 'migrate-job.yaml', 'secret.example.yaml']
    expect([...resources, ...left].sort()).toEqual(manifests.map((file) => path.basename(file)).sort())
  })

  test.each(containers.map((container) => [container.name, container] as const))(
    '%s runs confined, from a fixed image, with bounded memory',
    (_name, container) => {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(container.image).toBe(containers[0].image)
      expect(container.image).toMatch(/:\d+\.\d+\.\d+$/)
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String) },
        limits: { memory: expect.any(String) },
      })
      expect(commands.map(({ name }) => name)).toContain(container.args[0])
    },
  )

  test('pods are nobody, as the image is', () => {
    const [, user] = /^USER (\d+):\d+$/m.exec(read('deploy/Dockerfile')) ?? []
    for (const { spec } of pods) {
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: Number(user), fsGroup: Number(user) })
      expect(Number(user)).toBeGreaterThan(0)
      expect(spec.automountServiceAccountToken).toBe(false)
    }
  })

  test('probes ask what is there, on the ports the program listens on', () => {
    const probes = containers.flatMap((container) =>
      ['startupProbe', 'livenessProbe', 'readinessProbe']
        .filter((kind) => container[kind])
        .map((kind) => {
          const { path: at, port } = container[kind].httpGet
          const number = container.ports.find(({ name }: Manifest) => name === port)?.containerPort
          return { container: container.name, kind, at, number }
        }),
    )
    expect(probes.length).toBeGreaterThanOrEqual(5)
    for (const { container, kind, at, number } of probes) {
      // Alive is asked where no flood of callers stands in line; ready, where they are served.
      if (kind !== 'readinessProbe') expect([number, at], container).toEqual([defaults.metrics_port, '/health'])
      else {
        expect(number).toBe(defaults.port)
        expect(addresses).toContain(`GET ${at}`)
        expect(at).toBe('/api/health/ready')
      }
    }
    for (const pod of pods.filter(({ metadata }) => metadata.annotations)) {
      expect(pod.metadata.annotations['prometheus.io/port']).toBe(String(defaults.metrics_port))
    }
  })

  test('a process that reads files of tenants has a place for what does not fit into its memory', () => {
    for (const { metadata, spec } of ofKind('Deployment')) {
      const { containers, volumes } = spec.template.spec
      for (const { volumeMounts } of containers) {
        const mount = volumeMounts.find(({ mountPath }: Manifest) => mountPath === '/tmp')
        const volume = volumes.find(({ name }: Manifest) => name === mount?.name)
        expect(volume?.emptyDir, metadata.name).toEqual({ sizeLimit: '1Gi' })
      }
    }
  })

  test('a pod has time to end in order', () => {
    const drain_ms = Number(named('ConfigMap', 'probity-config').data.PROBITY_DRAIN_MS)
    for (const { metadata, spec } of pods) {
      const grace_ms = spec.terminationGracePeriodSeconds * 1000
      expect(grace_ms, metadata.labels).toBeGreaterThanOrEqual(60_000)
      expect(grace_ms).toBeGreaterThan(drain_ms + 20_000 + 15_000)
    }
    expect(named('Deployment', 'probity-api').spec.replicas).toBeGreaterThanOrEqual(2)
    expect(named('Deployment', 'probity-api').spec.strategy.rollingUpdate.maxUnavailable).toBe(0)
  })

  test('names and labels meet', () => {
    const labels = new Map(
      ofKind('Deployment').map(({ metadata, spec }) => [metadata.name, spec.template.metadata.labels]),
    )
    for (const { metadata, spec } of ofKind('Deployment'))
      expect(labels.get(metadata.name)).toMatchObject(spec.selector.matchLabels)
    for (const { metadata, spec } of ofKind('PodDisruptionBudget')) {
      expect(labels.get(metadata.name)).toMatchObject(spec.selector.matchLabels)
    }
    for (const { metadata, spec } of ofKind('Service')) {
      expect(labels.get(metadata.name)).toMatchObject(spec.selector)
      const { ports } = named('Deployment', metadata.name).spec.template.spec.containers[0]
      for (const { targetPort } of spec.ports) expect(ports.map(({ name }: Manifest) => name)).toContain(targetPort)
    }
    for (const { spec } of ofKind('HorizontalPodAutoscaler')) {
      expect(spec.minReplicas).toBeGreaterThanOrEqual(2)
      expect(labels.has(spec.scaleTargetRef.name)).toBe(true)
    }
    for (const { envFrom = [] } of containers) {
      for (const { configMapRef, secretRef } of envFrom) {
        expect(configMapRef ? named('ConfigMap', configMapRef.name) : named('Secret', secretRef.name)).toBeDefined()
      }
    }
    const open = ofKind('NetworkPolicy').flatMap(({ spec }) =>
      (spec.ingress ?? []).flatMap(({ ports }: Manifest) => ports),
    )
    expect(open.map(({ port }: Manifest) => port).sort()).toEqual([defaults.port, defaults.metrics_port].sort())
  })

  test('the master key is a file that others cannot read, where the configuration looks for it', () => {
    const file = named('ConfigMap', 'probity-config').data.PROBITY_MASTER_KEY_FILE
    const mounting = pods.flatMap((pod) => pod.spec.containers.map((container: Manifest) => ({ pod, container })))
    for (const { pod, container } of mounting) {
      const mount = container.volumeMounts.find(({ mountPath }: Manifest) => mountPath === path.posix.dirname(file))
      expect(mount?.readOnly, container.name).toBe(true)
      const { secret } = pod.spec.volumes.find(({ name }: Manifest) => name === mount.name)
      expect(Object.keys(named('Secret', secret.secretName).stringData)).toEqual([path.posix.basename(file)])
      expect(secret.defaultMode & 0o037, 'mode').toBe(0)
      expect(secret.defaultMode & 0o040, 'mode').toBe(0o040)
    }
  })

  test('only the migration knows the password of migrator', () => {
    const knowing = containers.filter((container) => JSON.stringify(container).includes('probity-migrator'))
    expect(knowing.map(({ name }) => name)).toEqual(['migrate'])
    expect(Object.keys(named('Secret', 'probity-database').stringData)).not.toContain('MIGRATOR_DATABASE_URL')
  })

  test('there is no secret in what is shipped', () => {
    for (const { stringData } of ofKind('Secret')) {
      for (const value of Object.values<string>(stringData)) expect(value).toContain('REPLACE_ME')
    }
    const folder = path.join(projectRoot, 'deploy')
    for (const name of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!fs.statSync(path.join(folder, name)).isFile()) continue
      const text = fs.readFileSync(path.join(folder, name), 'utf8')
      expect(text, name).not.toMatch(/[0-9a-f]{64}|pk_[0-9a-f]{32}|eyJ[A-Za-z0-9_-]{20}/)
      for (const [, password] of text.matchAll(/postgres:\/\/\w+:([^@\s]+)@/g))
        expect(password, name).toBe('REPLACE_ME')
    }
  })
})

describe('the image', () => {
  const dockerfile = read('deploy/Dockerfile')
  const final = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))

  test('is slim, ends on SIGTERM and starts the API', () => {
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:22[-\w.]*-slim$/m)
    expect(dockerfile).not.toContain(':latest')
    expect(dockerfile).toMatch(/npm ci --omit=dev --omit=optional/)
    expect(final).toContain('STOPSIGNAL SIGTERM')
    expect(final).toContain('ENTRYPOINT ["node", "bin/probity.mjs"]')
    expect(final).toContain('CMD ["api"]')
    expect(final).toContain(`EXPOSE ${defaults.port} ${defaults.metrics_port}`)
    const copied = [...final.matchAll(/^COPY (?:--from=\w+ )?(\S+)/gm)].map(([, from]) => from)
    expect(copied).toEqual(['/probity/node_modules/', '/probity/dist/', 'package.json', 'bin/', 'db/'])
  })

  test('its context holds what is copied', () => {
    const allowed = new Set(
      read('deploy/Dockerfile.dockerignore')
        .split('\n')
        .filter((line) => line.startsWith('!'))
        .map((line) => line.slice(1)),
    )
    const lines = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].map(([, words]) => (words as string).split(' '))
    const sources = lines.flatMap((words) => words.slice(0, -1))
    expect(sources.length).toBeGreaterThan(8)
    expect(sources.filter((source) => !allowed.has(source.split('/')[0] as string))).toEqual([])
    expect(sources.filter((source) => !fs.existsSync(path.join(projectRoot, source)))).toEqual([])
  })

  test('takes over all that is built, the compressed files too', async () => {
    expect(dockerfile).toMatch(/^RUN npm run build && rm -f dist\/\.stamp-\*$/m)
    expect(await exitOf(process.execPath, ['scripts/build.mjs', 'console', 'docs'])).toBe(0)
    for (const file of ['console/index.html', 'docs/scalar.js']) {
      const forms = ['', '.br', '.gz'].map((form) => fs.existsSync(path.join(projectRoot, 'dist', file + form)))
      expect(forms, file).toEqual([true, true, true])
    }
  }, 120_000)

  test('its health check tells a server that answers from one that does not', async () => {
    const [, words] = /^HEALTHCHECK .*\\\n\s+CMD (\[.+\])$/m.exec(final) ?? []
    const [command, ...args] = JSON.parse(words as string) as string[]
    const check = (port: number) => exitOf(command as string, args, { PROBITY_METRICS_PORT: String(port) })
    let status = 200
    const server = http.createServer((request, response) => {
      response.writeHead(request.url === '/health' ? status : 404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    try {
      expect(await check(port)).toBe(0)
      status = 503
      expect(await check(port)).toBe(1)
    } finally {
      server.close()
    }
    expect(await check(port)).toBe(1)
  })

  test('the tool runs without sources, and builds nothing then', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-image-'))
    afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))
    fs.mkdirSync(path.join(folder, 'bin'))
    fs.mkdirSync(path.join(folder, 'dist'))
    for (const file of ['package.json', 'bin/probity.mjs'])
      fs.copyFileSync(path.join(projectRoot, file), path.join(folder, file))
    const bundle = 'export const main = async (argv) => (argv.join() === "api,--help" ? 7 : 1)'
    fs.writeFileSync(path.join(folder, 'dist/probity.mjs'), bundle)
    expect(await exitOf(process.execPath, [path.join(folder, 'bin/probity.mjs'), 'api', '--help'])).toBe(7)
  })
})

function exitOf(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: 'ignore' })
    child.once('error', reject)
    child.once('exit', resolve)
  })
}

describe('metrics', () => {
  const runtime = createRuntime({
    connections: { app: inject('connections').app, worker: inject('connections').worker },
    keyring: createKeyring(TEST_MASTER_KEY),
    build: { version: '0', commit: null, node: process.version, schema_version: '0000' },
    log: silentLog(),
    issuers: [],
    public_url: null,
    cors_origins: [],
    trusted_proxies: 0,
    pool_size: 2,
    prepared_statements: true,
    statement_timeout_ms: 1000,
    upload_max_bytes: 1024,
    strict: true,
  })
  afterAll(() => runtime.close())

  const { faultsOf, labels } = queryCheck(runtime.metrics.registry, paths)

  test('the check of queries notices wrong names, labels and routes', async () => {
    expect(
      await faultsOf('sum by (kind) (rate(probity_job_run_duration_seconds_count{outcome="failed"}[5m])) > 0'),
    ).toEqual([])
    expect(await faultsOf('rate(probity_jobs_total[5m])')).toEqual(['probity_jobs_total'])
    expect(await faultsOf('probity_alarms_total{tenant="x"}')).toEqual(['probity_alarms_total{tenant}'])
    expect(await faultsOf('sum by (tenant) (up)')).toEqual(['tenant'])
    expect(await faultsOf('rate(http_server_request_duration_seconds_count{http_route="/api/nowhere"}[5m])')).toEqual([
      'http_route /api/nowhere',
    ])
  })

  test('those in the alerts exist, and every alert says in docs/operations.md what to do', async () => {
    const [document] = parseYaml('deploy/prometheus/alerts.yaml')
    const rules = document.groups.flatMap(({ rules }: Manifest) => rules)
    expect(rules.length).toBeGreaterThan(10)
    for (const { alert, expr, labels, annotations } of rules) {
      expect(await faultsOf(expr), alert).toEqual([])
      expect(labels.severity).toMatch(/^(critical|warning|info)$/)
      expect(annotations.summary).toBeTruthy()
    }
    for (const reason of alarmReasons) {
      expect(
        rules.some(({ expr }: Manifest) => expr.includes(`probity_alarms_total{reason="${reason}"}`)),
        reason,
      ).toBe(true)
    }
    // Names that other programs give to their metrics too: theirs must not alert here.
    const shared = /(?<!,)\b(?:up|(?:http|nodejs|process)_\w+)\b(?!\{job=~"\.\*probity\.\*"[,}])/
    for (const { alert, expr } of rules) expect(shared.exec(expr)?.[0], alert).toBeUndefined()
    const told = [...read('docs/operations.md').matchAll(/^\| (Probity\w+) \|/gm)].map(([, name]) => name)
    expect(told).toEqual(rules.map(({ alert }: Manifest) => alert))
  })

  test('those on the dashboard exist', async () => {
    const { panels, annotations } = JSON.parse(read('deploy/grafana/dashboard.json'))
    const targets = [...panels.flatMap((panel: Manifest) => panel.targets), ...annotations.list]
    expect(targets.length).toBeGreaterThan(15)
    for (const { expr } of targets) expect(await faultsOf(expr), expr).toEqual([])
    expect(new Set(panels.map(({ id }: Manifest) => id)).size).toBe(panels.length)
  })

  test('those in docs/operations.md exist', async () => {
    const section = read('docs/operations.md').split('\n## Monitoring\n')[1]?.split('\n## ')[0] ?? ''
    const known = (await runtime.metrics.registry.getMetricsAsJSON()).map(({ name }) => name)
    const told = [...section.matchAll(/`((?:http|probity|nodejs|process)_[a-z0-9_]+)`/g)].map(
      ([, name]) => name as string,
    )
    const known_labels = await labels()
    expect(told.filter((name) => !known.includes(name) && !known_labels.has(name))).toEqual([])
    expect(known.filter((name) => /^(http|probity)_/.test(name) && !told.includes(name))).toEqual([])
  })
})

describe('documents', () => {
  const documents = ['docs/operations.md', 'docs/security.md']

  test('their commands are real, with options that exist', () => {
    const texts = [...documents, 'deploy/Dockerfile', ...manifests].map(read).join('\n')
    const called = [...texts.matchAll(/npx probity ([a-z][^`\n|>#"]*)/g)].map(([, words]) =>
      (words as string).trim().split(/\s+/),
    )
    expect(called.length).toBeGreaterThan(20)
    for (const words of called) {
      if (words[0] === 'help') continue
      const command =
        commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ??
        commands.find(({ name }) => name === words[0])
      expect(command, words.join(' ')).toBeDefined()
      const options = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2).replace(/[.,;:]$/, ''))
      for (const option of options) expect(Object.keys(command?.options ?? {}), words.join(' ')).toContain(option)
    }
  })

  test('the endpoints they name are declared, and their links lead somewhere', () => {
    for (const file of documents) {
      const text = read(file)
      const named = [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/api\/[^`?]*)[^`]*`/g)]
      const declared = addresses.map((at) => at.replace(/:(\w+)/g, '{$1}'))
      expect(named.map(([, method, at]) => `${method} ${at}`).filter((at) => !declared.includes(at))).toEqual([])
      for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        expect(fs.existsSync(path.join(projectRoot, 'docs', target)), `${file}: ${target}`).toBe(true)
      }
    }
  })

  test('docs/security.md says what each database role can reach, as the catalogue has it', async () => {
    const client = new pg.Client(inject('connections').postgres)
    await client.connect()
    const table = await roleReachTable(client).finally(() => client.end())
    const file = path.join(projectRoot, 'docs/security.md')
    const between = /(<!-- reach:begin[^\n]*-->\n)[\s\S]*?(<!-- reach:end -->)/
    const wanted = read('docs/security.md').replace(between, (_, begin, end) => `${begin}\n${table}\n\n${end}`)
    if (process.env['PROBITY_WRITE_DOCS']) fs.writeFileSync(file, wanted)
    expect(table.split('\n').length).toBeGreaterThan(18)
    expect(read('docs/security.md') === wanted, 'docs/security.md is stale: run "npm run docs" and commit it').toBe(
      true,
    )
  })
})
