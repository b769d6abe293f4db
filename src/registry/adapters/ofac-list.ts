/**
 * OFAC's two lists, which come in the same layouts: the SDN list and the consolidated list of the others. Read as the
 * other list, every party would be labelled wrongly, so such a file is refused by its name or by the programmes of its parties.
 */
import { quoteNames } from '../formats/archive-files.ts'
import { refuseSource } from '../formats/fault.ts'

export type OfacList = 'ofac-sdn' | 'ofac-consolidated'

/** Programmes that are frequent on one list and rare on the other. */
const markers: Readonly<Record<OfacList, RegExp>> = {
  'ofac-sdn': /^(CUBA|SDNT|SDNTK|SDGT|NPWMD)$/,
  'ofac-consolidated': /^(NS-|FSE-|561|UKRAINE-EO13662$|CAPTA|CMIC|SSI|MBS)/,
}
const titles: Readonly<Record<OfacList, string>> = {
  'ofac-sdn': 'the SDN list',
  'ofac-consolidated': 'the consolidated list',
}
/** As OFAC names the files, with the number a browser adds to a second download. */
const fileNames: Readonly<Record<OfacList, RegExp>> = {
  'ofac-sdn': /^sdn(_advanced)?( ?\(\d+\))?\.(csv|pip|del|xml)$/i,
  'ofac-consolidated': /^(cons_prim|consolidated|cons_advanced)( ?\(\d+\))?\.(csv|pip|del|xml)$/i,
}
const getOtherList = (list: OfacList): OfacList => (list === 'ofac-sdn' ? 'ofac-consolidated' : 'ofac-sdn')

export function assertFileName(file_name: string | null | undefined, list: OfacList): void {
  if (!file_name || !fileNames[getOtherList(list)].test(file_name)) return
  refuseOther(list, `"${file_name}" is ${titles[getOtherList(list)]} of OFAC, not ${titles[list]}.`, file_name)
}

function refuseOther(list: OfacList, message: string, file?: string): never {
  const advice = `Choose the adapter for ${titles[getOtherList(list)]}.`
  refuseSource('layout_unknown', `${message} ${advice}`, file === undefined ? undefined : { row: 0, file })
}

/** Counts programmes while parties are read, and refuses the other list at the end. */
export class ListIdentity {
  private readonly list: OfacList
  private parties = 0
  private own = 0
  private other = 0
  private readonly seen = new Set<string>()

  constructor(list: OfacList) {
    this.list = list
  }

  add(programmes: readonly string[]): void {
    this.parties++
    if (programmes.some((programme) => markers[this.list].test(programme))) this.own++
    const foreign = programmes.filter((programme) => markers[getOtherList(this.list)].test(programme))
    if (foreign.length > 0) this.other++
    for (const programme of foreign) this.seen.add(programme)
  }

  /** Single parties have programmes of the other list, so the majority decides. */
  assertList(file?: string): void {
    if (this.other <= this.own) return
    const counted = `${this.other} of ${this.parties} parties belong to programmes of ${titles[getOtherList(this.list)]}`
    refuseOther(this.list, `${counted} (${quoteNames([...this.seen].sort())}).`, file)
  }
}
