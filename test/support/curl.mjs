/** Replaces curl on machines without it: the options that the examples use, and no others. */
import fs from 'node:fs'

const headers = new Headers()
let method
let body
let url
let fails = false
const words = process.argv.slice(2)
for (let word = words.shift(); word !== undefined; word = words.shift()) {
  if (word === '--fail-with-body') fails = true
  else if (word === '-X') method = words.shift()
  else if (word === '-H') headers.append(...words.shift().split(/:\s*/, 2))
  else if (word === '-d' || word === '--data-binary') body = contentOf(words.shift())
  else if (/^-[sSf]+$/.test(word)) continue
  else if (word.startsWith('-')) throw new Error(`the stand-in for curl does not know ${word}`)
  else url = word
}
if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded')

const response = await fetch(url, { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body })
process.stdout.write(await response.text())
process.exitCode = fails && !response.ok ? 22 : 0

function contentOf(text) {
  return text.startsWith('@') ? fs.readFileSync(text.slice(1)) : text
}
