/**
 * Judges whether what several callers saw of one list is the history of a linearizable register. Every write has its place
 * in the order (`seq`) and every read names the write it saw, so the check is complete and needs no search.
 */

export interface RegisterWrite {
  readonly began: number
  readonly ended: number
  readonly seq: number
  readonly activation_id: string
  readonly recorded_at: string
  readonly version: number
}
export interface RegisterRead {
  readonly began: number
  readonly ended: number
  readonly activation_id: string
  readonly version: number
}
export interface RegisterHistory {
  readonly writes: readonly RegisterWrite[]
  readonly reads: readonly RegisterRead[]
}

/** One sentence for each observation that no linearizable register allows. */
export function findLinearizabilityFaults({ writes, reads }: RegisterHistory): string[] {
  const faults: string[] = []
  const inOrder = writes.toSorted((a, b) => a.seq - b.seq)
  inOrder.forEach((write, index) => {
    const before = inOrder[index - 1]
    if (write.seq !== index + 1) faults.push(`activation ${index + 1} is missing, ${write.seq} comes next`)
    if (!before) return
    if (write.recorded_at <= before.recorded_at) faults.push(`${write.seq} was recorded no later than ${before.seq}`)
  })
  const steps = writes.map(({ began, ended, seq }): Step => ({ began, ended, seq, name: `write ${seq}` }))
  faults.push(...findBackwardSteps(steps, steps))

  const byId = new Map(writes.map((write) => [write.activation_id, write]))
  const seen: Step[] = []
  for (const read of reads) {
    const write = byId.get(read.activation_id)
    if (!write || write.version !== read.version)
      faults.push(`a read saw version ${read.version}, which nobody wrote so`)
    else if (write.began > read.ended) faults.push(`a read saw write ${write.seq} before it began`)
    else seen.push({ began: read.began, ended: read.ended, seq: write.seq, name: `read of ${write.seq}` })
  }
  faults.push(...findBackwardSteps(seen, [...steps, ...seen]))
  return faults
}

interface Step {
  readonly began: number
  readonly ended: number
  readonly seq: number
  readonly name: string
}

/** A step that begins after an earlier one has ended must not have a lower place than that one. */
function findBackwardSteps(steps: readonly Step[], earlier: readonly Step[]): string[] {
  const byEnd = earlier.toSorted((a, b) => a.ended - b.ended)
  const faults: string[] = []
  let next = 0
  let newest: Step | undefined
  for (const step of steps.toSorted((a, b) => a.began - b.began)) {
    for (; next < byEnd.length && (byEnd[next] as Step).ended < step.began; next++) {
      const ended = byEnd[next] as Step
      if (!newest || ended.seq > newest.seq) newest = ended
    }
    if (newest && step.seq < newest.seq) faults.push(`${step.name} came after ${newest.name} had ended`)
  }
  return faults
}
