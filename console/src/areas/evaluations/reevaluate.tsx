/** The same inputs with what is in force today: whether the answer is another one, and which version made the difference. */
import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { Changes } from '#console/ui/decision/changes.tsx'
import type { Bands } from '#console/ui/decision/definition-model.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import { FromTo, ResultMark } from '#console/ui/decision/outcome.tsx'
import { Verdict } from '#console/ui/decision/verdict.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'

type Reevaluation = Schemas['Reevaluation']
type Switch = Schemas['VersionSwitch']

interface ReevaluateProps {
  readonly one: Schemas['Evaluation']
  readonly bands: Bands | undefined
}

export function Reevaluate({ one, bands }: ReevaluateProps) {
  const { evaluation_id } = one
  const [answer, setAnswer] = useState<Reevaluation | null>(null)
  const again = useApiMutation(
    () => probity.POST('/api/evaluations/{evaluation_id}/reevaluate', { params: { path: { evaluation_id } } }),
    { invalidates: [], onDone: setAnswer },
  )
  return (
    <Stack gap="md">
      <Group gap="sm">
        <Button loading={again.isRunning} onClick={() => again.run(undefined)}>
          Decide with today’s versions
        </Button>
        <Text size="sm" c="dimmed">
          Nothing is stored, and nobody is rated.
        </Text>
      </Group>
      <ProblemNote problem={again.problem} />
      {answer && <ReevaluationResult answer={answer} bands={bands} />}
    </Stack>
  )
}

function ReevaluationResult({ answer, bands }: { readonly answer: Reevaluation; readonly bands: Bands | undefined }) {
  const { before, after, switches, changes } = answer
  return (
    <>
      <Section title={answer.same_outcome ? 'The same today' : 'Different today'}>
        <Stack gap="sm">
          <FromTo from={before} to={after.outcome} />
          {after.outcome && (
            <Verdict
              outcome={after.outcome}
              bands={bands}
              {...(before.score_bps !== null && { other: { name: 'then', score_bps: before.score_bps } })}
            />
          )}
          <Findings findings={after.findings} title="Nothing could be decided today" />
          {changes.length > 0 && <Changes changes={changes} label="Changes of the outcome" sides={['Then', 'Today']} />}
        </Stack>
      </Section>
      <Section title="Which version made the difference">
        {switches.length === 0 ? (
          <Text size="sm">Everything is as it was: no list and no definition has another version today.</Text>
        ) : (
          <PlainTable
            label="Versions that are different today"
            head={[{ name: 'What' }, { name: 'Version' }, { name: 'Effect' }, { name: 'Alone it gives', from: 'sm' }]}
          >
            {switches.map((one) => (
              <SwitchRow key={`${one.family} ${one.key}`} one={one} />
            ))}
          </PlainTable>
        )}
      </Section>
    </>
  )
}

const effectTexts: Readonly<Record<Switch['effect'] | 'unknown', readonly [words: string, color: string]>> = {
  whole: ['makes all of the difference', 'red'],
  part: ['makes another difference', 'orange'],
  joint: ['only together with others', 'yellow'],
  none: ['makes no difference', 'gray'],
  unknown: ['there was no time to try it', 'gray'],
}

function SwitchRow({ one }: { readonly one: Switch }) {
  const [words, color] = effectTexts[one.effect]
  const isOtherOwner = one.from_origin !== null && one.to_origin !== null && one.from_origin !== one.to_origin
  const shown = (version: number | null, origin: string | null, overlay: number | null) =>
    `${version ?? 'none'}${isOtherOwner ? ` (${origin})` : ''}${overlay === null ? '' : ` + overlay ${overlay}`}`
  return (
    <Table.Tr>
      <Table.Td>
        {one.family} <span className="mono">{one.key}</span>
      </Table.Td>
      <Table.Td className="number">
        {shown(one.from_version, one.from_origin, one.from_overlay)} →{' '}
        {shown(one.to_version, one.to_origin, one.to_overlay)}
      </Table.Td>
      <Table.Td>
        <Badge variant="light" tt="none" color={color}>
          {words}
        </Badge>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {one.alone?.outcome ? <ResultMark of={one.alone.outcome} /> : <span className="quiet">–</span>}
      </Table.Td>
    </Table.Tr>
  )
}
