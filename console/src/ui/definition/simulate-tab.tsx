/** Simulates inputs on a version or the draft without storing anything. */
import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '../api-mutation.ts'
import { textQuery, toApiPath, toPathParams } from '../decision/definition-kind.ts'
import { parseDefinition } from '../decision/definition-model.ts'
import { ExplanationView, parseExplanation, parseOutcome } from '../decision/explanation.tsx'
import { Findings } from '../decision/findings.tsx'
import { type Inputs, InputsForm } from '../decision/inputs-form.tsx'
import { Verdict } from '../decision/verdict.tsx'
import { EmptyState } from '../empty-state.tsx'
import { useSetFilter } from '../filters.tsx'
import { ProblemNote } from '../problem-note.tsx'
import { Section } from '../section.tsx'
import type { DefinitionParts } from './definition-parts.ts'

export function SimulateTab(parts: DefinitionParts) {
  const { version } = parts
  if (version === null)
    return (
      <EmptyState
        title="Nothing to simulate yet"
        about="A simulation tries inputs on a version or on the draft. Create a draft first."
      />
    )
  return <Simulate key={version} {...parts} version={version} />
}

/** Inputs from the page address, set by example inputs or a golden case. */
function useGivenInputs(): Inputs {
  const { inputs } = useSearch({ strict: false }) as { inputs?: unknown }
  if (typeof inputs === 'object' && inputs !== null) return inputs as Inputs
  try {
    const read: unknown = JSON.parse(String(inputs))
    return typeof read === 'object' && read !== null ? (read as Inputs) : {}
  } catch {
    return {}
  }
}

function Simulate({ kind, definition_key, of, version }: DefinitionParts & { readonly version: number | 'draft' }) {
  const { data: text } = useSuspenseQuery(textQuery(kind, definition_key, version, of.origin))
  const definition = parseDefinition(text.definition)
  const set = useSetFilter()
  const [inputs, setInputs] = useState<Inputs>(useGivenInputs())
  const [answer, setAnswer] = useState<Awaited<ReturnType<typeof ask>> | null>(null)
  const ask = () =>
    probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/simulate'), {
      params: {
        path: { ...toPathParams(kind, definition_key), version: String(version) },
        query: { origin: of.origin },
      },
      body: { inputs },
    })
  const simulate = useApiMutation(ask, { invalidates: [], onDone: setAnswer })
  const outcome = parseOutcome(answer?.outcome ?? null)
  const explanation = parseExplanation(answer?.explanation ?? null)
  const choices = [
    ...(of.draft === null ? [] : [{ value: 'draft', label: 'Draft' }]),
    ...of.versions.slice(0, 4).map(({ version: number }) => ({ value: String(number), label: `Version ${number}` })),
  ]
  return (
    <Stack gap="md">
      <Section
        title="Inputs"
        actions={
          choices.length > 1 && (
            <SegmentedControl
              size="xs"
              aria-label="Version"
              value={String(version)}
              data={choices}
              onChange={(chosen) => set('version', chosen === 'draft' ? chosen : Number(chosen))}
            />
          )
        }
      >
        <form
          onSubmit={(event) => {
            event.preventDefault()
            simulate.run(undefined)
          }}
        >
          <Stack gap="sm">
            <InputsForm
              inputs={definition.inputs ?? []}
              values={inputs}
              onChange={setInputs}
              faults={answer?.findings ?? []}
            />
            <ProblemNote problem={simulate.problem} />
            <Group gap="sm">
              <Button type="submit" loading={simulate.isRunning}>
                Simulate
              </Button>
              <Text size="sm" c="dimmed">
                Nothing is stored.
              </Text>
            </Group>
          </Stack>
        </form>
      </Section>
      {answer && !answer.decided && <Findings findings={answer.findings} title="No decision possible" />}
      {answer && outcome && explanation && (
        <>
          <Section title="Outcome">
            <Verdict outcome={outcome} bands={definition.bands} />
          </Section>
          <ExplanationView outcome={outcome} explanation={explanation} lists={answer.lists} />
        </>
      )}
    </Stack>
  )
}
