/** Evaluates changed inputs on the versions of a decision, and finds the smallest change that alters the result. */
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { Changes } from '#console/ui/decision/changes.tsx'
import type { Definition } from '#console/ui/decision/definition-model.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import { type Inputs, InputsForm } from '#console/ui/decision/inputs-form.tsx'
import { FromTo } from '#console/ui/decision/outcome.tsx'
import { Verdict } from '#console/ui/decision/verdict.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import { formatEntryValue } from '#console/ui/type-texts.ts'
import { pickChangedInputs } from './changed-inputs.ts'
import { inputsQuery } from './evaluation-queries.ts'

type WhatIfResponse = Schemas['WhatIf']

interface WhatIfProps {
  readonly one: Schemas['Evaluation']
  readonly definition: Definition | null
}

export function WhatIf({ one, definition }: WhatIfProps) {
  const may = usePermission()
  if (definition === null)
    return (
      <EmptyState
        title="The definition is not available"
        about="What-if needs the matrix or rule that decided. Your roles may not include reading it."
      />
    )
  return may('getEvaluationInputs') ? (
    <WithInputs one={one} definition={definition} />
  ) : (
    <WhatIfForm one={one} definition={definition} stored={{}} />
  )
}

function WithInputs({ one, definition }: WhatIfProps & { readonly definition: Definition }) {
  const { data } = useSuspenseQuery(inputsQuery(one.evaluation_id))
  return <WhatIfForm one={one} definition={definition} stored={data.inputs} />
}

interface WhatIfFormProps extends WhatIfProps {
  readonly definition: Definition
  readonly stored: Inputs
}

function WhatIfForm({ one, definition, stored }: WhatIfFormProps) {
  const { evaluation_id } = one
  const [inputs, setInputs] = useState<Inputs>(stored)
  const [search, setSearch] = useState(false)
  const [answer, setAnswer] = useState<WhatIfResponse | null>(null)
  const explore = useApiMutation(
    (request: { inputs: Record<string, unknown>; search: boolean }) =>
      probity.POST('/api/evaluations/{evaluation_id}/what-if', {
        params: { path: { evaluation_id } },
        body: { inputs: request.inputs, search: request.search },
      }),
    { invalidates: [], onDone: setAnswer },
  )
  return (
    <Stack gap="md">
      <Section title="Change inputs">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            explore.run({ inputs: pickChangedInputs(stored, inputs), search })
          }}
        >
          <Stack gap="sm">
            <InputsForm
              inputs={definition.inputs ?? []}
              values={inputs}
              onChange={setInputs}
              faults={answer?.after.findings ?? []}
            />
            <Checkbox
              label="Also find the smallest change that alters the result"
              checked={search}
              onChange={(event) => setSearch(event.currentTarget.checked)}
            />
            <ProblemNote problem={explore.problem} />
            <Group gap="xs">
              <Button type="submit" loading={explore.isRunning}>
                Run what-if
              </Button>
              <Button variant="default" onClick={() => setInputs(stored)}>
                Reset inputs
              </Button>
            </Group>
          </Stack>
        </form>
      </Section>
      {answer && (
        <Section title="Result with these inputs">
          <Stack gap="sm">
            <FromTo from={answer.before} to={answer.after.outcome} />
            {answer.after.outcome && (
              <Verdict
                outcome={answer.after.outcome}
                bands={definition.bands}
                lists={one.lists}
                {...(answer.before.score_bps !== null && {
                  other: { name: 'then', score_bps: answer.before.score_bps },
                })}
              />
            )}
            <Findings findings={answer.after.findings} title="No decision possible" />
            {answer.changes.length > 0 && <Changes changes={answer.changes} label="Outcome changes" />}
          </Stack>
        </Section>
      )}
      {answer?.search && <SmallestChanges search={answer.search} definition={definition} />}
    </Stack>
  )
}

interface SmallestChangesProps {
  readonly search: NonNullable<WhatIfResponse['search']>
  readonly definition: Definition
}

function SmallestChanges({ search, definition }: SmallestChangesProps) {
  const getTitle = (name: string) => definition.inputs?.find((input) => input.name === name)?.title ?? name
  const { changes, searched } = search
  return (
    <Section title="Smallest change that alters the result">
      {changes.length === 0 ? (
        <Text size="sm">None found.</Text>
      ) : (
        <Stack gap="xs" component="ul" className="plain-list" aria-label="Smallest changes">
          {changes.slice(0, 12).map(({ changed, result }) => (
            <li key={JSON.stringify(changed)}>
              <Text size="sm">
                {changed.map(({ name, from, to }, place) => (
                  <span key={name}>
                    {place > 0 && ' and '}
                    <b>{getTitle(name)}</b> {formatEntryValue(from)} → {formatEntryValue(to)}
                  </span>
                ))}
                : <b>{result}</b>
              </Text>
            </li>
          ))}
        </Stack>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        {formatCount(searched.decisions, 'decision')} tested, changing up to {formatCount(searched.together, 'input')}{' '}
        at once.
        {searched.not_searched.length > 0 && ` Not varied: ${searched.not_searched.map(getTitle).join(', ')}.`}
        {searched.truncated && ' The search was limited by the number of combinations or by time.'}
      </Text>
    </Section>
  )
}
