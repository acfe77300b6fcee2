// The two pictures of the README.
import { screens } from "../support/screens";
import { expect, test } from "../support/test";

const FOLDER = "../docs/pictures";
const SIZE = { width: 1120, height: 680 };

for (const [name, place] of [
  ["conversation", (survey: string, answer: string) => `/c/${survey}?pane=context&of=${answer}`],
  ["map", (survey: string) => `/c/${survey}/map`],
] as const) {
  test(`the README's picture of the ${name}`, async ({ told, story, skein, watch }) => {
    await told.setViewportSize(SIZE);
    await told.goto(skein.origin + place(story.survey, story.onEdit.id));
    const screen = screens.find((one) => one.name === name);
    if (screen?.shows) await expect(screen.shows(told, story).first()).toBeVisible();
    await watch.settled(told);
    await told.screenshot({ path: `${FOLDER}/${name}.png` });
  });
}
