import { expect, task, test } from "../support/test";

test.describe.configure({ mode: "default" });

task("create a REST tool and try it", async ({ home: page, hands, person, httpbin }) => {
  await person.refuse(httpbin);
  await hands.go("Catalog");
  await hands.press(page.getByRole("link", { name: "New service" }).first());
  await hands.write(page.getByRole("textbox", { name: "Name", exact: true }), "Mirror");
  await hands.choose(page.getByLabel("Template", { exact: true }), "REST API without credential");
  await hands.press(page.getByRole("button", { name: "Create service" }));
  await expect(page.getByRole("heading", { name: "Mirror" })).toBeVisible();

  await hands.press(page.getByRole("navigation", { name: "Catalog" }).getByRole("link", { name: "Tools" }));
  await hands.press(page.getByRole("link", { name: "New tool" }).first());
  await hands.write(page.getByRole("textbox", { name: "Name", exact: true }), "Say it back");
  await hands.choose(page.getByLabel("Service"), "Mirror");
  await hands.write(
    page
      .getByRole("group", { name: /^Connection to/ })
      .getByRole("textbox")
      .first(),
    httpbin.endpoint,
  );
  await hands.write(page.getByLabel("Path"), "/anything/{{word}}");
  await hands.press(page.getByRole("button", { name: "Create tool" }));
  await expect(page.getByRole("heading", { name: "Say it back" })).toBeVisible();

  await hands.write(page.getByLabel("word"), "heron");
  await hands.press(page.getByRole("button", { name: "Call", exact: true }));
  // The address is on this machine: nothing there is called before it is allowed.
  await hands.press(page.getByRole("button", { name: /^Allow / }));
  const result = page.getByRole("region", { name: "Result of the call" });
  await expect(result).toContainText("completed");
  await expect(result).toContainText(`${httpbin.endpoint}/anything/heron`);
});
