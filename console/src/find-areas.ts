/** Finds areas by address and by permission. */
import type { Area } from './area.ts'
import { areas } from './areas.ts'

export function findArea(path: string): Area | undefined {
  return areas.find((area) =>
    area.path === '/' ? path === '/' : path === area.path || path.startsWith(`${area.path}/`),
  )
}

/** Without known permissions, only public areas are offered. */
export function filterAreas(operations: readonly string[] | null): readonly Area[] {
  return areas.filter((area) =>
    operations === null ? area.isPublic === true : area.needs === null || operations.includes(area.needs),
  )
}
