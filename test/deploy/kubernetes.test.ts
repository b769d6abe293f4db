/** Manifests and settings agree with the program. */
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '#app/cli/commands.ts'
import { readConfig } from '#app/config.ts'
import { projectRoot } from '../support/database.ts'
import {
  containers,
  defaults,
  findObject,
  findVariables,
  listObjects,
  type Manifest,
  manifests,
  objects,
  pods,
  readProjectFile,
  requestLines,
  variables,
} from './deploy-files.ts'

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
      findVariables(readProjectFile(file))
        .filter((name) => !variables.has(name))
        .map((name) => `${file}: ${name}`),
    )
    expect(unknown).toEqual([])
    const set = containers.flatMap(({ env = [] }) => env.map(({ name }: Manifest) => name))
    const given = [...listObjects('ConfigMap').flatMap(({ data }) => Object.keys(data)), ...set]
    expect(given.filter((name) => !variables.has(name))).toEqual([])
  })

  test('all of them are in the table of docs/operations.md, with their defaults', () => {
    const section = readProjectFile('docs/operations.md').split('\n## Settings\n')[1]?.split('\n## ')[0] ?? ''
    const rows = [...section.matchAll(/^\| `([A-Z_]+)` \| ([^|]*)\|/gm)]
    expect(rows.map(([, name]) => name as string).sort()).toEqual([...variables].sort())
    for (const [, name = '', stated = ''] of rows) {
      if (!/^\d+ $/.test(stated)) continue
      const key = name.replace(/^PROBITY_/, '').toLowerCase() as keyof typeof defaults
      expect(defaults[key], name).toBe(Number(stated))
    }
  })

  test('the configuration of the manifests is one the program takes', () => {
    const urls = listObjects('Secret').flatMap(({ stringData }) =>
      Object.entries<string>(stringData).filter(([key]) => key.endsWith('_URL')),
    )
    const config = readConfig({ ...findObject('ConfigMap', 'probity-config').data, ...Object.fromEntries(urls) })
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
    const { resources } = listObjects('Kustomization')[0]
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
    const [, user] = /^USER (\d+):\d+$/m.exec(readProjectFile('deploy/Dockerfile')) ?? []
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
      // Liveness is probed on the metrics port, which no load reaches; readiness on the port that serves requests.
      if (kind !== 'readinessProbe') expect([number, at], container).toEqual([defaults.metrics_port, '/health'])
      else {
        expect(number).toBe(defaults.port)
        expect(requestLines).toContain(`GET ${at}`)
        expect(at).toBe('/api/health/ready')
      }
    }
    for (const pod of pods.filter(({ metadata }) => metadata.annotations)) {
      expect(pod.metadata.annotations['prometheus.io/port']).toBe(String(defaults.metrics_port))
    }
  })

  test('a process that reads files of tenants has a place for what does not fit into its memory', () => {
    for (const { metadata, spec } of listObjects('Deployment')) {
      const { containers, volumes } = spec.template.spec
      for (const { volumeMounts } of containers) {
        const mount = volumeMounts.find(({ mountPath }: Manifest) => mountPath === '/tmp')
        const volume = volumes.find(({ name }: Manifest) => name === mount?.name)
        expect(volume?.emptyDir, metadata.name).toEqual({ sizeLimit: '1Gi' })
      }
    }
  })

  test('a pod has time to end in order', () => {
    const drain_ms = Number(findObject('ConfigMap', 'probity-config').data.PROBITY_DRAIN_MS)
    for (const { metadata, spec } of pods) {
      const grace_ms = spec.terminationGracePeriodSeconds * 1000
      expect(grace_ms, metadata.labels).toBeGreaterThanOrEqual(60_000)
      expect(grace_ms).toBeGreaterThan(drain_ms + 20_000 + 15_000)
    }
    expect(findObject('Deployment', 'probity-api').spec.replicas).toBeGreaterThanOrEqual(2)
    expect(findObject('Deployment', 'probity-api').spec.strategy.rollingUpdate.maxUnavailable).toBe(0)
  })

  test('names and labels meet', () => {
    const labels = new Map(
      listObjects('Deployment').map(({ metadata, spec }) => [metadata.name, spec.template.metadata.labels]),
    )
    for (const { metadata, spec } of listObjects('Deployment'))
      expect(labels.get(metadata.name)).toMatchObject(spec.selector.matchLabels)
    for (const { metadata, spec } of listObjects('PodDisruptionBudget')) {
      expect(labels.get(metadata.name)).toMatchObject(spec.selector.matchLabels)
    }
    for (const { metadata, spec } of listObjects('Service')) {
      expect(labels.get(metadata.name)).toMatchObject(spec.selector)
      const { ports } = findObject('Deployment', metadata.name).spec.template.spec.containers[0]
      for (const { targetPort } of spec.ports) expect(ports.map(({ name }: Manifest) => name)).toContain(targetPort)
    }
    for (const { spec } of listObjects('HorizontalPodAutoscaler')) {
      expect(spec.minReplicas).toBeGreaterThanOrEqual(2)
      expect(labels.has(spec.scaleTargetRef.name)).toBe(true)
    }
    for (const { envFrom = [] } of containers) {
      for (const { configMapRef, secretRef } of envFrom) {
        expect(
          configMapRef ? findObject('ConfigMap', configMapRef.name) : findObject('Secret', secretRef.name),
        ).toBeDefined()
      }
    }
    const open = listObjects('NetworkPolicy').flatMap(({ spec }) =>
      (spec.ingress ?? []).flatMap(({ ports }: Manifest) => ports),
    )
    expect(open.map(({ port }: Manifest) => port).sort()).toEqual([defaults.port, defaults.metrics_port].sort())
  })

  test('the master key is a file that others cannot read, where the configuration looks for it', () => {
    const file = findObject('ConfigMap', 'probity-config').data.PROBITY_MASTER_KEY_FILE
    const mounting = pods.flatMap((pod) => pod.spec.containers.map((container: Manifest) => ({ pod, container })))
    for (const { pod, container } of mounting) {
      const mount = container.volumeMounts.find(({ mountPath }: Manifest) => mountPath === path.posix.dirname(file))
      expect(mount?.readOnly, container.name).toBe(true)
      const { secret } = pod.spec.volumes.find(({ name }: Manifest) => name === mount.name)
      expect(Object.keys(findObject('Secret', secret.secretName).stringData)).toEqual([path.posix.basename(file)])
      expect(secret.defaultMode & 0o037, 'mode').toBe(0)
      expect(secret.defaultMode & 0o040, 'mode').toBe(0o040)
    }
  })

  test('only the migration knows the password of migrator', () => {
    const knowing = containers.filter((container) => JSON.stringify(container).includes('probity-migrator'))
    expect(knowing.map(({ name }) => name)).toEqual(['migrate'])
    expect(Object.keys(findObject('Secret', 'probity-database').stringData)).not.toContain('MIGRATOR_DATABASE_URL')
  })

  test('there is no secret in what is shipped', () => {
    for (const { stringData } of listObjects('Secret')) {
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
