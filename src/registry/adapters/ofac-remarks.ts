/**
 * The remarks of the OFAC text files, where dates of birth, documents and weak aliases are packed into one line separated by
 * semicolons. Only unambiguous parts are extracted; the entry keeps the line unchanged.
 */
import { birthDate, type PartyDraft } from './sanctioned-party.ts'

export const ofacDates = ['DD MMM YYYY', 'D MMM YYYY', 'MMM YYYY', 'YYYY'] as const

/** Words that begin an identifier, as OFAC writes them. */
const documents = [
  'Passport',
  'National ID No.',
  'Cedula No.',
  'NIT #',
  'RUC #',
  'RFC',
  'C.U.R.P.',
  'C.U.I.T.',
  'C.U.I.',
  'D.N.I.',
  'SSN',
  'Tax ID No.',
  'Registration Number',
  'Registration ID',
  'Company Number',
  'Identification Number',
  'Matricula Mercantil No',
  'Folio Mercantil No.',
  'Vessel Registration Identification',
  "Aircraft Manufacturer's Serial Number (MSN)",
  'Digital Currency Address',
  'SWIFT/BIC',
  'Email Address',
  'Phone Number',
  "Driver's License No.",
  'License',
  'Personal ID Card',
  'Birth Certificate Number',
  'Birth Certificate',
  'Diplomatic Passport',
  'Stateless Person Passport',
  'Travel Document Number',
  'Numero de Identidad',
  "Citizen's Card Number",
  'V.A.T. Number',
  'VAT Number',
  'MMSI',
]

export function readRemarks(remarks: string, draft: PartyDraft): void {
  for (const part of remarks.replace(/\.$/, '').split(';')) readPart(part.trim().replace(/^alt\. /, ''), draft)
}

function readPart(part: string, draft: PartyDraft): void {
  const [word = ''] = part.split(' ', 1)
  const rest = part.slice(word.length + 1)
  if (word === 'DOB') draft.addBirthDate(birthDate(rest, ofacDates))
  else if (word === 'POB') draft.addValue('birth_places', rest)
  else if (word === 'nationality' || word === 'citizen') draft.addValue('nationalities', rest)
  else if (word === 'Gender') draft.set({ gender: rest })
  else if (word === 'a.k.a.' || word === 'f.k.a.' || word === 'n.k.a.') {
    draft.addName(rest.replace(/^'(.*)'$/, '$1'), word === 'f.k.a.' ? 'former' : 'weak-alias')
  } else readDocument(part, draft)
}

/** `Passport A123 (Iran) issued 2 May 2003` is a type, a number, a country and a note. */
function readDocument(part: string, draft: PartyDraft): void {
  const type = documents.find((name) => part.startsWith(`${name} `))
  if (type === undefined) return
  const [, value = '', country, note] =
    /^(.*?)(?: \(([^()]*)\))?( (?:issued|expires) .*)?$/.exec(part.slice(type.length + 1)) ?? []
  draft.addIdentifier(type, value, { country, note: note?.trim() })
}
