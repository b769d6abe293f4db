/** Scrolls to the part of a draft that a pointer names. */
import { toAnchorId } from './anchor.ts'

/** Scrolls to the innermost element on the page for a pointer. */
export function scrollToPointer(pointer: string): void {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = document.getElementById(toAnchorId(at))
    if (!place) continue
    for (const fold of [place.closest('details'), place.querySelector('details')]) if (fold) fold.open = true
    place.scrollIntoView({ block: 'center' })
    const wrong = place.querySelector<HTMLElement>('[aria-invalid=true]')
    const field = wrong ?? place.querySelector<HTMLElement>('input, textarea') ?? place
    field.focus({ preventScroll: true })
    return
  }
}
