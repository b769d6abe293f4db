/** Re-evaluates a decision with the versions in force today, and names the versions that change the result. */
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
          Re-evaluate with current versions
        </Button>
        <Text size="sm" c="dimmed">
          Nothing is stored, and no rating changes.
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
      <Section
        title={answer.same_outcome ? 'Same result with current versions' : 'Different result with current versions'}
      >
        <Stack gap="sm">
          <FromTo from={before} to={after.outcome} />
          {after.outcome && (
            <Verdict
              outcome={after.outcome}
              bands={bands}
              {...(before.score_bps !== null && { other: { name: 'then', score_bps: before.score_bps } })}
            />
          )}
          <Findings findings={after.findings} title="No decision possible with current versions" />
          {changes.length > 0 && <Changes changes={changes} label="Outcome changes" sides={['Then', 'Today']} />}
        </Stack>
      </Section>
      <Section title="Cause of the difference">
        {switches.length === 0 ? (
          <Text size="sm">No version has changed since the decision.</Text>
        ) : (
          <PlainTable
            label="Changed versions"
            empty={null}
            head={[
              { name: 'Matrix, rule or list' },
              { name: 'Version' },
              { name: 'Effect' },
              { name: 'Result with this change alone', from: 'sm' },
            ]}
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
  whole: ['causes the whole difference', 'red'],
  part: ['causes a different change', 'orange'],
  joint: ['only in combination with others', 'yellow'],
  none: ['no effect', 'gray'],
  unknown: ['not tested: time limit reached', 'gray'],
}

function SwitchRow({ one }: { readonly one: Switch }) {
  const [words, color] = effectTexts[one.effect]
  const isOtherOwner = one.from_origin !== null && one.to_origin !== null && one.from_origin !== one.to_origin
  const formatVersion = (version: number | null, origin: string | null, overlay: number | null) =>
    `${version ?? 'none'}${isOtherOwner ? ` (${origin})` : ''}${overlay === null ? '' : ` + overlay ${overlay}`}`
  return (
    <Table.Tr>
      <Table.Td>
        {one.family} <span className="mono">{one.key}</span>
      </Table.Td>
      <Table.Td className="number">
        {formatVersion(one.from_version, one.from_origin, one.from_overlay)} →{' '}
        {formatVersion(one.to_version, one.to_origin, one.to_overlay)}
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
