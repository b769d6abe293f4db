/** Wire contract of what playbooks have beside the routes of every kind of definition. */
import { closed, listOf, nullable, oneOf, Slug, Type, text } from '#kernel/schema.ts'
import { documentStore, registrySchemas } from '#modules/definitions/index.ts'
import { CredentialGap } from '#modules/provider-credentials/index.ts'

export const VersionParams = closed({
  playbook_key: Slug({ description: 'Name of the playbook.' }),
  version: text(100, { description: 'Number or label of a version, or draft.' }),
})

export const PlaybookValidation = closed(
  {
    playbook_key: Slug(),
    version: nullable(registrySchemas.VersionNumber),
    valid: Type.Boolean({ description: 'Whether it has no finding that is an error, so that it can be published.' }),
    findings: documentStore.Findings,
    providers: listOf(Slug(), 1000, { description: 'Providers that its steps may call.' }),
    missing_credentials: listOf(CredentialGap, 1000, {
      description: 'Of these providers, all that cannot be called now for want of a credential.',
    }),
    cannot_run: listOf(
      closed(
        {
          step: Slug(),
          is_required: Type.Boolean({ description: 'true: no case is opened on request meanwhile.' }),
          detail: text(1200),
          plugin_key: nullable(Slug({ description: 'null: it is a tool.' })),
          reasons: listOf(closed({ code: text(100), message: text(1000) }), 100),
        },
        { title: 'StepThatCannotRun' },
      ),
      50,
      {
        description:
          'Steps whose matrix or provider needs a plugin or tool that cannot run now. The playbook itself has no fault.',
      },
    ),
  },
  { title: 'PlaybookValidation' },
)

export const StepKinds = closed(
  {
    items: listOf(
      closed({
        kind: Slug(),
        title: text(200),
        with: Type.Unsafe<Record<string, unknown>>({
          type: 'object',
          additionalProperties: true,
          description: 'JSON Schema of `with`.',
        }),
        reusable: Type.Boolean({ description: 'Whether `reuse_days` may be given.' }),
        has_cost: Type.Boolean({ description: 'Whether `max_cost` may be given.' }),
      }),
      100,
    ),
  },
  { title: 'PlaybookStepKinds' },
)

export const UseQuery = closed({
  family: oneOf(['matrix', 'rule', 'provider']),
  key: Slug({ description: 'Key of the matrix, rule or provider.' }),
})

export const PlaybookUses = closed(
  {
    items: listOf(
      closed({
        playbook_key: Slug(),
        title: text(200),
        origin: registrySchemas.Origin,
        version: registrySchemas.VersionNumber,
        steps: listOf(Slug(), 50, { description: 'Keys of the steps that name it.' }),
      }),
      1000,
    ),
  },
  { title: 'PlaybookUses' },
)
