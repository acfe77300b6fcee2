/** For a form: when it cannot be sent as it is, the focus goes to the first field that says why. */
export function toFirstFault(form: HTMLFormElement): () => void {
  const look = () => setTimeout(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  form.addEventListener("submit", look);
  return () => form.removeEventListener("submit", look);
}
