/** Probes, the contract of the running API, uploads, and what the caller can do. */

import { findObjectRestriction } from '#kernel/audit/queries.ts'
import { everyone } from '#kernel/auth/roles.ts'
import { listUsableTools } from '#kernel/auth/tool-policy.ts'
import { publicRoute, tenantRoute } from '#kernel/declare-route.ts'
import { docsContentSecurityPolicy, renderDocsPage } from '#kernel/docs-page.ts'
import { assertReferenced, fail, type ProblemCode, problems } from '#kernel/problem.ts'
import { streamReply } from '#kernel/route.ts'
import { findUpload } from './queries.ts'
import {
  AnyDocument,
  Capabilities,
  ErrorCatalogue,
  ErrorParams,
  ErrorType,
  Health,
  LimitsView,
  ReadinessView,
  Upload,
  UploadParams,
  UploadQuery,
  Version,
} from './schema.ts'
import { storeUpload } from './uploads.ts'

const started_ms = performance.now()
const uploaders = ['analyst', 'policy_editor', 'service', 'tenant_admin', 'compliance_officer'] as const

const toErrorView = (code: ProblemCode) => ({
  code,
  type: `/api/errors/${code}`,
  status: problems[code].status as number,
  title: problems[code].title as string,
  advice: problems[code].advice as string,
  retryable: 'retryable' in problems[code],
})

const countOperations = ({ paths }: { readonly paths?: unknown }): number =>
  Object.values(paths ?? {}).flatMap((operations: object) => Object.keys(operations)).length

export const systemRoutes = [
  publicRoute('GET /health', {
    id: 'getHealth',
    summary: 'Liveness: the process is up',
    description: 'Checks only the process itself.',
    reply: [200, Health],
    also_at_root: true,
    unlimited: true,
  }).handle(async () => ({ status: 'ok', uptime_s: Math.floor((performance.now() - started_ms) / 1000) })),

  publicRoute('GET /health/ready', {
    id: 'getReadiness',
    summary: 'Readiness: database, schema, tenant isolation, seed, tool protocol',
    uses: ['readiness'],
    description: 'Answers 503 with the same body while a check fails or the process is shutting down.',
    reply: [200, ReadinessView],
    alternateStatus: { status: 503, when: (reply) => reply.status !== 'ready' },
    headers: (reply) => (reply.status === 'ready' ? ({} as Record<string, string>) : { 'retry-after': '1' }),
    also_at_root: true,
    unlimited: true,
  }).handle(async ({ kernel }) => kernel.readiness()),

  publicRoute('GET /openapi.json', {
    id: 'getOpenapi',
    summary: 'The OpenAPI 3.1 document of the running API',
    uses: ['openapi'],
    reply: [200, AnyDocument],
  }).handle(async ({ kernel }) => kernel.openapi()),

  publicRoute('GET /docs', {
    id: 'getDocs',
    summary: 'Interactive documentation page',
    description: 'Self-contained; the front end embeds it at /api-docs.',
    reply: [200, streamReply('text/html; charset=utf-8', 'An HTML page.')],
    headers: () => ({ 'content-security-policy': docsContentSecurityPolicy }),
    uses: ['openapi'],
  }).handle(async ({ kernel }) => {
    const page = renderDocsPage({
      operations: countOperations(await kernel.openapi()),
      openapiUrl: '/api/openapi.json',
      scriptUrl: '/api/docs/scalar.js',
      bootUrl: '/api/docs/boot.js',
    })
    return (async function* () {
      yield page
    })()
  }),

  publicRoute('GET /version', {
    id: 'getVersion',
    summary: 'Build, schema and API version of the running service',
    uses: ['build'],
    reply: [200, Version],
  }).handle(async ({ kernel }) => ({
    ...kernel.build,
    api: 'Unversioned path; changes are additive, removals are announced by Deprecation and Sunset headers.',
  })),

  publicRoute('GET /errors', {
    id: 'listErrors',
    summary: 'Catalogue of problem types: status, code, meaning, what to do',
    reply: [200, ErrorCatalogue],
  }).handle(async () => ({ items: (Object.keys(problems) as ProblemCode[]).map(toErrorView) })),

  publicRoute('GET /errors/:code', {
    id: 'getError',
    summary: 'One problem type, with how to fix it',
    params: ErrorParams,
    reply: [200, ErrorType],
    problems: ['not_found'],
  }).handle(async ({ params }) =>
    Object.hasOwn(problems, params.code) ? toErrorView(params.code as ProblemCode) : fail('not_found'),
  ),

  tenantRoute('POST /uploads', {
    id: 'createUpload',
    summary: 'Store bytes for a later import, batch, plugin or document',
    description:
      'Streamed into the database in pieces of 1 MiB, hashed on the way. Unused uploads are kept for 24 hours, used ones for 30 days. ' +
      'Until something uses it, only the person or key that sent the bytes can read and use the upload; for a document always. ' +
      'With restriction_id, nobody without access learns from the audit record that a file was sent.',
    roles: uploaders,
    tx: 'self',
    uses: ['upload_max_bytes'],
    query: UploadQuery,
    bytes: { description: 'The bytes, of any length up to the configured limit.', max_bytes: 'upload' },
    reply: [201, Upload],
    location: (upload) => `/uploads/${upload.upload_id}`,
    links: { getUpload: { upload_id: 'upload_id' } },
    // not_found: a repeated request, after the access to its restriction was revoked.
    problems: ['upload_incomplete', 'conflict', 'not_found'],
  }).handle(async ({ request, query, kernel, read, write, settle, audit }) => {
    const { restriction_id = null } = query
    if (restriction_id !== null) {
      const found = await read((tx) => findObjectRestriction(tx, 'restriction', restriction_id))
      audit.belongsTo(assertReferenced(found, 'restriction with this id'))
    }
    const stream = request.stream ?? fail('malformed_request', 'Send the bytes as application/octet-stream.')
    return storeUpload({ write, settle }, stream, {
      file_name: query.file_name ?? null,
      restriction_id,
      max_bytes: kernel.upload_max_bytes,
    })
  }),

  tenantRoute('GET /uploads/:upload_id', {
    id: 'getUpload',
    summary: 'Size, sha256 and state of an upload',
    roles: uploaders,
    tx: 'one',
    params: UploadParams,
    reply: [200, Upload],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => (await findUpload(tx, params.upload_id)) ?? fail('not_found')),

  tenantRoute('GET /capabilities', {
    id: 'getCapabilities',
    summary: 'What this token can do now',
    roles: everyone,
    tx: 'read',
    uses: [
      'caches',
      'forced_provider_mode',
      'jobs',
      'modules',
      'plugin_policy',
      'printing',
      'routes',
      'tenantStatusCache',
      'threads',
    ],
    reply: [200, Capabilities],
    beforeTransaction: async ({ kernel }) => {
      await kernel.printing.pdf.findEngine()
    },
    problems: ['content_corrupt'],
  }).handle(async ({ tx, actor, kernel }) => ({
    tenant_id: actor.tenant_id,
    roles: [...actor.roles],
    operations: kernel.routes
      .filter((route) => route.access === 'public' || route.roles.some((role) => actor.roles.includes(role)))
      .map((route) => route.id),
    job_kinds: [...kernel.jobs.kinds.keys()],
    providers: (
      await Promise.all(kernel.modules.map((module) => module.listReadyProviders?.(kernel, tx) ?? []))
    ).flat(),
    plugins: (await Promise.all(kernel.modules.map((module) => module.listRunnablePlugins?.(kernel, tx) ?? []))).flat(),
    report_formats: ['json', 'html', 'csv', ...((await kernel.printing.pdf.findEngine()) ? ['pdf'] : [])],
    tools: listUsableTools(
      kernel.routes,
      (await kernel.tenantStatusCache.get(actor.tenant_id))?.tool_rules,
      actor.roles,
    ),
  })),

  tenantRoute('GET /limits', {
    id: 'getLimits',
    summary: "The caller's rate-limit buckets: limit, remaining, reset",
    description:
      'Limits hold for all processes of the service together and are divided evenly among them; what is stated is the share ' +
      'of the process that answers.',
    roles: everyone,
    tx: 'self',
    uses: ['limits', 'tenantStatusCache'],
    reply: [200, LimitsView],
  }).handle(async ({ actor, kernel }) => {
    const status = (await kernel.tenantStatusCache.get(actor.tenant_id)) ?? fail('token_invalid')
    return { buckets: kernel.limits.describeBuckets(actor.tenant_id, actor.principal, status) }
  }),
]
