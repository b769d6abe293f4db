/** Wire contract of what people do with steps. */
import { closed, Id, integer, listOf, oneOf, reasonText, Slug, Type, text, titleText } from '#kernel/schema.ts'

export const StepParams = closed({ investigation_id: Id(), step_key: Slug() })

export const StepWaiver = closed({ reason: reasonText(2000, { description: 'Why the case can do without it.' }) })

export const StepSettlement = closed({
  action: oneOf(['call_again', 'enter_answer'], {
    description: 'call_again makes a new call, for which the provider may charge again. enter_answer needs answer.',
  }),
  reason: reasonText(1000, { description: 'How it is known what the provider did.' }),
  answer: Type.Optional(
    closed(
      {
        result: oneOf(['found', 'not_found']),
        media_type: text(200, { examples: ['application/json'] }),
        content: text(1_000_000, { description: 'What the provider answered, as text.' }),
        is_unusable: Type.Optional(
          Type.Boolean({
            description: 'true: the provider really answered so, although the source contract refuses it.',
          }),
        ),
      },
      { title: 'EnteredAnswer' },
    ),
  ),
})

export const AddedStep = closed({
  step_key: Slug({ description: 'Unique in the case.', examples: ['second-registry'] }),
  kind: Slug({ description: 'A kind of GET /playbooks/step-kinds.', examples: ['task'] }),
  title: titleText(200),
  with: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Settings, by the schema of the kind.',
    examples: [
      {
        capability: 'company-profile',
        provider: 'company-registry',
        input: { register_number: { value: 'HRB 86786' }, country: { fact: 'residence_country' } },
      },
    ],
  }),
  needs: Type.Optional(listOf(Slug(), 50, { uniqueItems: true, description: 'Steps that are settled before.' })),
  is_required: Type.Optional(Type.Boolean({ default: false })),
  reuse_days: Type.Optional(integer(1, 3650)),
  max_cost: Type.Optional(
    closed(
      {
        amount: text(12, { pattern: '^[0-9]{1,9}(\\.[0-9]{1,2})?$' }),
        currency: text(3, { pattern: '^[A-Z]{3}$' }),
      },
      { title: 'StepCostLimit' },
    ),
  ),
})
