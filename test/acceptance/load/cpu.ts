/**
 * CPU sets of a load run. In production clients have machines of their own: where Linux allows, the generators get the last
 * core and the server and its database all others, so that neither takes the other's time. On a virtual machine the host
 * may steal CPU time: a run in which that happened says nothing about the server.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'

export type CpuSet = 'server' | 'generator'

const lastCore = os.cpus().length - 1
const coresBySet: Readonly<Record<CpuSet, string>> = {
  server: lastCore === 1 ? '0' : `0-${lastCore - 1}`,
  generator: String(lastCore),
}

/** Also what the process starts later. False where it cannot be done. */
export function pinToCores(pid: number, side: CpuSet): boolean {
  if (lastCore < 1) return false
  try {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', coresBySet[side], String(pid)], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** One request in a hundred is the 99th percentile: where as much of the time is stolen, it tells of that and nothing else. */
export const MAX_STEAL_SHARE = 0.005

/** The share of its time the machine was taken away since the watch began; 0 where that is not reported. */
export function watchStealTime(): () => number {
  const [stolen, all] = readCpuTimes()
  return () => {
    const [stolenNow, allNow] = readCpuTimes()
    return allNow === all ? 0 : Math.round(((stolenNow - stolen) / (allNow - all)) * 1000) / 1000
  }
}

function readCpuTimes(): [stolen: number, all: number] {
  try {
    const [, ...fields] = (fs.readFileSync('/proc/stat', 'latin1').split('\n', 1)[0] as string).split(/ +/)
    // user nice system idle iowait irq softirq steal; what follows is counted in the first two.
    const times = fields.slice(0, 8).map(Number)
    return [times[7] ?? 0, times.reduce((sum, time) => sum + time, 0)]
  } catch {
    return [0, 0]
  }
}
