/** Routes of playbooks beside those of every kind of definition. */
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Route } from '#kernel/route.ts'
import { documentStore, registrySchemas } from '#modules/definitions/index.ts'
import { findReadiness } from '#modules/provider-credentials/index.ts'
import { checkShape } from './check-playbook.ts'
import { listDependentPlaybooks } from './dependents.ts'
import { playbookKind } from './playbook-kind.ts'
import { toPlaybook } from './playbook-parts.ts'
import { PlaybookUses, PlaybookValidation, StepKinds, UseQuery, VersionParams } from './schema.ts'
import { listPlaybookProviders, listStepKinds, listStepRefusals, validatePlaybook } from './validate-playbook.ts'

export const playbookRoutes: readonly Route[] = [
  tenantRoute('POST /playbooks/:playbook_key/versions/:version/validate', {
    id: 'validatePlaybookVersion',
    summary: 'Check a version or the draft, with missing credentials and plugins that cannot run',
    description:
      'Every finding of publishing, every provider that its steps may call and that has no usable credential, and every step whose plugin ' +
      'cannot run. Only findings keep it from being published. Nothing is stored.',
    roles: ['policy_editor', 'compliance_officer', 'tenant_admin', 'auditor'],
    tx: 'read',
    uses: ['caches', 'forced_provider_mode', 'modules', 'plugin_policy', 'threads'],
    params: VersionParams,
    query: registrySchemas.OriginQuery,
    reply: [200, PlaybookValidation],
    stores_nothing: true,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params, query, kernel }) => {
    const wanted = { ...params, ...query }
    const { dataset, text, version } = await documentStore.getVersionOrDraft(kernel, tx, playbookKind, wanted)
    const { findings } = await validatePlaybook(kernel, tx, text)
    const playbook = checkShape(text).length > 0 ? null : toPlaybook(text)
    const providers = playbook ? await listPlaybookProviders(kernel, tx, playbook) : []
    const refusals = playbook ? await listStepRefusals(kernel, tx, playbook) : []
    const readiness = await findReadiness(kernel, tx, providers)
    return {
      playbook_key: dataset.list_key,
      version: version?.version ?? null,
      valid: findings.every(({ severity }) => severity !== 'error'),
      findings: [...findings],
      providers,
      missing_credentials: [...readiness.values()].flatMap(({ gap }) =>
        gap ? [{ ...gap, members: [...gap.members], capabilities: [...gap.capabilities] }] : [],
      ),
      cannot_run: refusals.map((refusal) => ({ ...refusal, reasons: [...refusal.reasons] })),
    }
  }),

  tenantRoute('GET /playbooks/step-kinds', {
    id: 'listPlaybookStepKinds',
    summary: 'Kinds of steps that a playbook may have, with the schema of their settings',
    roles: everyone,
    tx: 'one',
    uses: ['modules'],
    reply: [200, StepKinds],
  }).handle(async ({ kernel }) => ({
    items: [...listStepKinds(kernel.modules).values()].map(({ kind, title, schema, is_reusable, has_cost }) => ({
      kind,
      title,
      with: schema as unknown as Record<string, unknown>,
      reusable: is_reusable,
      has_cost,
    })),
  })),

  tenantRoute('GET /playbooks/uses', {
    id: 'listPlaybookUses',
    summary: 'Playbooks in force that name a matrix, a rule or a provider',
    description: 'A step that names a capability without a provider uses every provider in force that has it.',
    roles: everyone,
    tx: 'read',
    uses: ['caches', 'forced_provider_mode', 'modules'],
    query: UseQuery,
    reply: [200, PlaybookUses],
    problems: ['content_corrupt'],
  }).handle(async ({ tx, query, kernel }) => ({ items: await listDependentPlaybooks(kernel, tx, query) })),
]
