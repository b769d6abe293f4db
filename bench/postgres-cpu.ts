/** What PostgreSQL's processes have used so far, in microseconds; 0 where /proc does not tell. */
import fs from 'node:fs'

const TICK_US = 10_000

export function readPostgresCpu(): number {
  let ticks = 0
  for (const pid of listProcesses()) {
    try {
      if (!fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('postgres:')) continue
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
      // After the name in parentheses: user and system time are the 12th and 13th field.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // Ended meanwhile.
    }
  }
  return ticks * TICK_US
}

function listProcesses(): string[] {
  try {
    return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}
