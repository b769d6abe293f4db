/** Step 4: stores the risk bands with another threshold as a new version, and measures its impact on past decisions. */

import { Button, Group, NumberInput, Stack, Text } from '@mantine/core'
import { isChangeRequest } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { ImpactView } from '#console/ui/decision/impact-view.tsx'
import { listContentQuery } from '#console/ui/decision/list-entries.ts'
import { ListSkeleton } from '#console/ui/list.tsx'
import { formatPoints } from '#console/ui/points.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { datasetQuery, datasetsQuery } from '#console/ui/registry-queries.ts'
import { PutNewestInForce } from './activate-step.tsx'
import { getThresholdRange, moveThreshold, type RiskBand, SAMPLE_LIST } from './sample-list.ts'

const { list_key } = SAMPLE_LIST
const BAND = 'medium'
/** By how much the form lowers the threshold to begin with. */
const SUGGESTED_STEP_BPS = 1000

/** The bands in force, lowest first. */
function useBands(): readonly RiskBand[] | undefined {
  const { data } = useQuery(listContentQuery(list_key))
  return data?.entries.map(({ entry }) => entry as unknown as RiskBand).sort((one, two) => one.from_bps - two.from_bps)
}

/** A tenant that uses the shared bands gets a list of its own first. */
async function measureBands(bands: readonly RiskBand[], isRegistered: boolean) {
  if (!isRegistered) {
    const created = await probity.POST('/api/reference-data/datasets', { body: { ...SAMPLE_LIST } })
    if (isChangeRequest(created)) return created
  }
  const { version } = await probity.POST('/api/reference-data/datasets/{list_key}/versions', {
    params: { path: { list_key } },
    body: { data: bands.map((band) => ({ ...band })), note: 'Another threshold for the medium band.' },
  })
  const job = await probity.POST('/api/reference-data/datasets/{list_key}/versions/{version}/impact', {
    // While the shared list is in force, the address without it means that list.
    params: { path: { list_key, version: String(version) }, query: { origin: 'own' } },
    body: {},
  })
  await probity.jobs.wait(job.job_id)
  return job
}

export function ThresholdStep() {
  const bands = useBands()
  if (bands === undefined) return <ListSkeleton />
  const range = getThresholdRange(bands, BAND)
  const now_bps = bands.find(({ band }) => band === BAND)?.from_bps
  if (range === null || now_bps === undefined) {
    return <Text size="sm">The list of risk bands in force has no medium band above a lower one.</Text>
  }
  return <ThresholdForm key={now_bps} bands={bands} range={range} now_bps={now_bps} />
}

interface ThresholdFormProps {
  readonly bands: readonly RiskBand[]
  readonly range: { readonly min: number; readonly max: number }
  readonly now_bps: number
}

function ThresholdForm({ bands, range, now_bps }: ThresholdFormProps) {
  const { data: lists = [] } = useQuery({ ...datasetsQuery, throwOnError: false })
  const isRegistered = lists.some((list) => list.list_key === list_key && list.origin === 'own')
  const [from_bps, setFrom] = useState(Math.max(range.min, now_bps - SUGGESTED_STEP_BPS))
  const isChanged = from_bps !== now_bps && from_bps >= range.min && from_bps <= range.max
  const measure = useApiMutation(() => measureBands(moveThreshold(bands, BAND, from_bps), isRegistered), {
    invalidates: ['datasets', 'impact-runs', 'jobs'],
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isChanged) measure.run(undefined)
      }}
    >
      <Stack gap="sm">
        <NumberInput
          label="Medium risk from a score of"
          description={`Now ${formatPoints(now_bps)} of 10,000 points. A lower threshold rates more customers as medium risk.`}
          maw={320}
          min={range.min}
          max={range.max}
          allowDecimal={false}
          thousandSeparator=","
          step={100}
          value={from_bps}
          onChange={(typed) => typeof typed === 'number' && setFrom(typed)}
        />
        <ProblemNote problem={measure.problem} />
        <ApprovalNote request={measure.waiting} />
        <Group gap="sm">
          <Button type="submit" loading={measure.isRunning} disabled={!isChanged}>
            Save as a new version and analyse the impact
          </Button>
          <Text size="sm" c="dimmed">
            Nothing is in force until you put the version in force.
          </Text>
        </Group>
      </Stack>
    </form>
  )
}

/** The impact of the new threshold as the server has it, in any browser, and the way to put it in force. */
export function ThresholdImpact({ run_id }: { readonly run_id: string }) {
  const may = usePermission()
  const { data: run } = useQuery({
    queryKey: ['impact-runs', 'one', run_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/impact-runs/{run_id}', { params: { path: { run_id } }, signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'queued' || state.data?.state === 'running' ? 1000 : false),
    throwOnError: false,
  })
  const { data: dataset } = useQuery({ ...datasetQuery(list_key, 'own'), throwOnError: false })
  if (!run) return <ListSkeleton />
  const inForce = dataset?.active?.version ?? null
  // Putting the version in force makes its analysis stale, which is then no reason to repeat it.
  const isPutInForce = run.version !== null && run.version === inForce
  const canAct = may('activateDatasetVersion') || may('submitDatasetVersion')
  return (
    <Stack gap="md">
      {isPutInForce && <Text size="sm">Version {run.version} is in force. Its impact as measured before:</Text>}
      <ImpactView run={isPutInForce ? { ...run, stale: false } : run} />
      {canAct && dataset && run.result !== null && inForce !== dataset.head_version && (
        <PutNewestInForce dataset={dataset} />
      )}
    </Stack>
  )
}
